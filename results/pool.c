/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/pool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
	pid_t pid; /* 0 = free */
	int job;
	int messages; /* read end of its pipe */
};

/* Jobs that take about as long. */
struct kind {
	int next, end;	      /* those that haven't been started */
	int64_t begun, ended; /* of the first that did, us; 0 = not yet */
};

struct pool {
	const char *title;
	int alike, at_once, running;
	int nr_kinds;
	struct kind *kinds;
	const bool *skip;
	struct child *children;
	struct pool_outcome *out;
	sigset_t mask, old_mask;
	pid_t self;
	int64_t started; /* monotonic, us: for the progress bar only */
	int todo;
	bool terminal;
};

void pool_outcome_free(struct pool_outcome *o)
{
	if (!o)
		return;
	for (int i = 0; i < o->n; i++)
		g_free(o->messages[i]);
	g_free(o->messages);
	g_free(o->done);
	g_free(o);
}

/* What ends a run, unless it was ignored when we began (nohup). */
static const int enders[] = {SIGINT, SIGTERM, SIGHUP};

static bool is_ignored(int sig)
{
	struct sigaction now;

	return !sigaction(sig, NULL, &now) && now.sa_handler == SIG_IGN;
}

static void child_main(struct pool *p, int fd, int job, pool_job fn, void *arg)
{
	g_autoptr(GError) error = NULL;
	const char *message;

	for (guint i = 0; i < G_N_ELEMENTS(enders); i++)
		if (sigismember(&p->mask, enders[i]))
			signal(enders[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, &p->old_mask, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != p->self)
		_exit(1);
	if (fn(arg, job, &error))
		_exit(0);
	message = error ? error->message : "failed without a message";
	/* a pipe takes this much without anybody reading */
	if (write(fd, message, MIN(strlen(message), 4000)) < 0)
		_exit(1);
	_exit(1);
}

static bool start(struct pool *p, int job, pool_job fn, void *arg)
{
	int fds[2];
	struct child *c = p->children;
	pid_t pid;

	while (c->pid)
		c++;
	if (pipe(fds))
		return false;
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return false;
	}
	if (!pid) {
		close(fds[0]);
		child_main(p, fds[1], job, fn, arg);
	}
	close(fds[1]);
	*c = (struct child){pid, job, fds[0]};
	p->running++;
	return true;
}

static char *last_words(int fd)
{
	char buf[4001];
	ssize_t n = read(fd, buf, sizeof(buf) - 1);

	if (n <= 0)
		return NULL;
	buf[n] = '\0';
	return g_strdup(buf);
}

static void reap(struct pool *p, struct child *c, int status)
{
	g_autofree char *said = last_words(c->messages);
	char **message = &p->out->messages[c->job];

	close(c->messages);
	if (!p->kinds[c->job / p->alike].ended)
		p->kinds[c->job / p->alike].ended = g_get_monotonic_time();
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		p->out->done[c->job] = true;
		p->out->nr_done++;
	} else if (!p->out->signal) {
		p->out->nr_failed++;
		if (said)
			*message = g_steal_pointer(&said);
		else if (WIFSIGNALED(status))
			*message = g_strdup_printf(
				"ended by signal %d (%s)", WTERMSIG(status),
				strsignal(WTERMSIG(status)));
		else
			*message = g_strdup_printf("ended with code %d",
						   WEXITSTATUS(status));
	}
	c->pid = 0;
	p->running--;
}

static void reap_finished(struct pool *p, bool block)
{
	for (int i = 0; i < p->at_once; i++) {
		struct child *c = &p->children[i];
		int status;
		pid_t pid;

		if (!c->pid)
			continue;
		do {
			pid = waitpid(c->pid, &status, block ? 0 : WNOHANG);
		} while (pid < 0 && errno == EINTR);
		if (pid == c->pid)
			reap(p, c, status);
	}
}

/* "0:07", "1:02:03" */
static char *clock_text(double seconds)
{
	int s = (int)(seconds + 0.5);

	return s < 3600 ? g_strdup_printf("%d:%02d", s / 60, s % 60) :
			  g_strdup_printf("%d:%02d:%02d", s / 3600,
					  s / 60 % 60, s % 60);
}

enum { BAR_MAX = 32, BAR_MIN = 6 };

char *pool_progress(const char *title, int finished, int todo, double seconds,
		    int columns)
{
	bool going = finished && finished < todo;
	g_autofree char *spent = clock_text(seconds);
	g_autofree char *left =
		clock_text(going ? seconds * (todo - finished) / finished : 0);
	g_autofree char *tail = g_strdup_printf(
		"%d/%d points, %s%s%s", finished, todo, spent,
		going ? ", ETA " : "", going ? left : "");
	int room = MAX(columns - 1 - (int)strlen(tail), 0);
	int shown = MIN((int)strlen(title), MAX(room - 1, 0));
	int bar = MIN(room - shown - 4, BAR_MAX); /* "T [B] tail" */
	GString *s = g_string_new(NULL);

	g_string_append_len(s, title, shown);
	if (shown)
		g_string_append_c(s, ' ');
	if (bar >= BAR_MIN) {
		g_string_append_c(s, '[');
		for (int i = 0; i < bar; i++)
			g_string_append_c(
				s, i < (int64_t)bar * finished / todo ? '#' :
									'-');
		g_string_append(s, "] ");
	}
	g_string_append(s, tail);
	g_string_truncate(s, MIN((int)s->len, MAX(columns - 1, 0)));
	return g_string_free(s, FALSE);
}

static int terminal_columns(void)
{
	struct winsize w;

	return !ioctl(2, TIOCGWINSZ, &w) && w.ws_col ? w.ws_col : 80;
}

static void progress(const struct pool *p, bool last)
{
	g_autofree char *text = NULL;

	if (!p->terminal || !p->todo)
		return;
	text = pool_progress(p->title, p->out->nr_done + p->out->nr_failed,
			     p->todo,
			     (g_get_monotonic_time() - p->started) / 1e6,
			     terminal_columns());
	fprintf(stderr, "\r%s\033[K%s", text, last ? "\n" : "");
}

static void end_children(struct pool *p)
{
	for (int i = 0; i < p->at_once; i++)
		if (p->children[i].pid)
			kill(p->children[i].pid, SIGKILL);
	reap_finished(p, true);
}

static int64_t length(const struct kind *k)
{
	if (!k->begun)
		return G_MAXINT64;
	return (k->ended ? k->ended : g_get_monotonic_time()) - k->begun;
}

/*
 * The kind to start a job of, NULL if none is left. One by one they run as they
 * stand. Side by side a long job must not be the last to start, with nothing
 * beside it: first one of each kind, from the end, where a sweep's largest
 * values stand, then of the kind that took longest.
 */
static struct kind *choose(struct pool *p)
{
	struct kind *best = NULL;

	for (int i = 0; i < p->nr_kinds; i++) {
		struct kind *k = &p->kinds[i];

		while (k->next < k->end && p->skip && p->skip[k->next])
			k->next++;
		if (k->next == k->end)
			continue;
		if (!best || length(k) >= length(best))
			best = k;
		if (p->at_once == 1)
			break;
	}
	return best;
}

static void start_more(struct pool *p, pool_job fn, void *arg)
{
	struct kind *k;

	while (p->running < p->at_once && (k = choose(p))) {
		int job = k->next;

		if (!start(p, job, fn, arg)) {
			if (p->running)
				return; /* again when one has ended */
			p->out->messages[job] = g_strdup_printf(
				"cannot start a process: %s",
				g_strerror(errno));
			p->out->nr_failed++;
		}
		if (!k->begun)
			k->begun = g_get_monotonic_time();
		k->next++;
	}
}

static void wait_for_news(struct pool *p)
{
	struct timespec second = {.tv_sec = 1};
	siginfo_t info;
	int sig = sigtimedwait(&p->mask, &info, &second);

	if (sig > 0 && sig != SIGCHLD) {
		p->out->signal = sig;
		end_children(p);
	} else {
		/* one SIGCHLD may stand for several children */
		reap_finished(p, false);
	}
}

struct pool_outcome *pool_run(const char *title, int n, const bool *skip,
			      int alike, int at_once, pool_job job, void *arg)
{
	struct pool p = {
		.title = title,
		.alike = alike,
		.nr_kinds = (n + alike - 1) / alike,
		.at_once = CLAMP(at_once, 1, MAX(n, 1)),
		.skip = skip,
		.self = getpid(),
		.started = g_get_monotonic_time(),
		.terminal = title && isatty(2),
	};

	for (int i = 0; i < n; i++)
		p.todo += !(skip && skip[i]);
	p.kinds = g_new0(struct kind, MAX(p.nr_kinds, 1));
	for (int i = 0; i < p.nr_kinds; i++) {
		p.kinds[i].next = i * alike;
		p.kinds[i].end = MIN((i + 1) * alike, n);
	}
	p.children = g_new0(struct child, p.at_once);
	p.out = g_new0(struct pool_outcome, 1);
	p.out->done = g_new0(bool, MAX(n, 1));
	p.out->messages = g_new0(char *, MAX(n, 1));
	p.out->n = n;
	signal(SIGCHLD, SIG_DFL); /* ignored, it would swallow the statuses */
	sigemptyset(&p.mask);
	for (guint i = 0; i < G_N_ELEMENTS(enders); i++)
		if (!is_ignored(enders[i]))
			sigaddset(&p.mask, enders[i]);
	sigaddset(&p.mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &p.mask, &p.old_mask);
	for (;;) {
		start_more(&p, job, arg);
		progress(&p, false);
		if (!p.running)
			break;
		wait_for_news(&p);
		if (p.out->signal)
			break;
	}
	progress(&p, true);
	sigprocmask(SIG_SETMASK, &p.old_mask, NULL);
	g_free(p.children);
	g_free(p.kinds);
	return p.out;
}
