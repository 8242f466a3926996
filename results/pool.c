/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/pool.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
	pid_t pid; /* 0 = free */
	int job;
	int messages; /* read end of its pipe */
};

struct pool {
	const char *title;
	int n, at_once, running, next;
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

static void child_main(struct pool *p, int fd, int job, pool_job fn, void *arg)
{
	g_autoptr(GError) error = NULL;
	const char *message;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
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

static void progress(const struct pool *p, bool last)
{
	int finished = p->out->nr_done + p->out->nr_failed;
	double seconds = (g_get_monotonic_time() - p->started) / 1e6;
	char bar[33];

	if (!p->terminal || !p->todo)
		return;
	for (int i = 0; i < 32; i++)
		bar[i] = i < 32 * finished / p->todo ? '#' : '-';
	bar[32] = '\0';
	fprintf(stderr, "\r%s [%s] %d/%d points, %.0f s", p->title, bar,
		finished, p->todo, seconds);
	if (finished && finished < p->todo)
		fprintf(stderr, ", ETA %.0f s",
			seconds * (p->todo - finished) / finished);
	fprintf(stderr, "\033[K%s", last ? "\n" : "");
}

static void end_children(struct pool *p)
{
	for (int i = 0; i < p->at_once; i++)
		if (p->children[i].pid)
			kill(p->children[i].pid, SIGKILL);
	reap_finished(p, true);
}

static void start_more(struct pool *p, pool_job fn, void *arg)
{
	while (p->running < p->at_once && p->next < p->n) {
		int job = p->next;

		if (p->skip && p->skip[job]) {
			p->next++;
			continue;
		}
		if (!start(p, job, fn, arg)) {
			if (p->running)
				return; /* again when one has ended */
			p->out->messages[job] = g_strdup_printf(
				"cannot start a process: %s",
				g_strerror(errno));
			p->out->nr_failed++;
		}
		p->next++;
	}
}

static void wait_for_news(struct pool *p)
{
	struct timespec second = {.tv_sec = 1};
	siginfo_t info;
	int sig = sigtimedwait(&p->mask, &info, &second);

	if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP) {
		p->out->signal = sig;
		end_children(p);
	} else {
		/* one SIGCHLD may stand for several children */
		reap_finished(p, false);
	}
}

struct pool_outcome *pool_run(const char *title, int n, const bool *skip,
			      int at_once, pool_job job, void *arg)
{
	struct pool p = {
		.title = title,
		.n = n,
		.at_once = MAX(at_once, 1),
		.skip = skip,
		.self = getpid(),
		.started = g_get_monotonic_time(),
		.terminal = isatty(2),
	};

	for (int i = 0; i < n; i++)
		p.todo += !(skip && skip[i]);
	p.children = g_new0(struct child, p.at_once);
	p.out = g_new0(struct pool_outcome, 1);
	p.out->done = g_new0(bool, MAX(n, 1));
	p.out->messages = g_new0(char *, MAX(n, 1));
	p.out->n = n;
	signal(SIGCHLD, SIG_DFL); /* ignored, it would swallow the statuses */
	sigemptyset(&p.mask);
	sigaddset(&p.mask, SIGINT);
	sigaddset(&p.mask, SIGTERM);
	sigaddset(&p.mask, SIGHUP);
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
	return p.out;
}
