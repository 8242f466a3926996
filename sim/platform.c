/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The topology as a SimGrid platform, and the latency from each CPU to each
 * memory, read back from its routes.
 *
 *	machine
 *	  socket-S
 *	    l3-K-node-N		host cpu-K-N: the CPUs of node N below L3 K
 *	    node-N		host mem-N: the memory controller of node N
 *	    edge-S		router to the other sockets
 *
 * One SimGrid second is a cycle, so latencies are in cycles. Each route to a
 * memory ends in that controller's link (dram_local_ns). Before it comes the
 * way there, by the nodes' SLIT distance d: in a socket a fabric link per pair,
 * between sockets the interconnect's link of the pair of sockets, of
 *
 *	(dram_remote - dram_local) * (d - 10) / (remote_distance - 10)
 *
 * so a CPU at distance 10 pays dram_local, one at remote_distance dram_remote,
 * and a memoryless CCD whose memory is at distance 11 nearly dram_local. Where
 * the nodes of two sockets are not all equally far apart, the pairs that differ
 * get routes of their own (bypassZoneRoute).
 */
#define _GNU_SOURCE /* memfd_create() */
#include <simgrid/engine.h>
#include <simgrid/host.h>

#include <errno.h>
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/internal.h"

/* CPUs of one node below one L3. */
struct complex {
	int l3, node, socket;
};

struct plan {
	const struct machine *m;
	GArray *complexes;
	GString *xml;
	GHashTable *links; /* latency -> defined in this zone */
};

static GArray *find_complexes(const struct topology *t)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct complex));

	for (int i = 0; i < t->nr_cpu_ids; i++) {
		struct complex c = { t->cpus[i].l3, t->cpus[i].node,
				     t->cpus[i].socket };
		bool known = false;

		if (!t->cpus[i].online)
			continue;
		for (guint k = 0; k < all->len && !known; k++) {
			struct complex *o =
				&g_array_index(all, struct complex, k);

			known = o->l3 == c.l3 && o->node == c.node;
		}
		if (!known)
			g_array_append_val(all, c);
	}
	return all;
}

/* Cycles that the way from node to node adds to dram_local. */
static uint64_t way(const struct machine *m, int from, int to)
{
	const struct machine_params *p = m->params;
	int d = topology_distance(m->topology, from, to);

	return machine_whole(m, (p->dram_remote_ns - p->dram_local_ns) *
					(d - 10) / (p->remote_distance - 10));
}

/* Between two sockets: that of the first pair of nodes found, as the rule. */
static uint64_t socket_way(const struct plan *plan, int from, int to)
{
	const struct topology *t = plan->m->topology;

	for (guint k = 0; k < plan->complexes->len; k++) {
		struct complex *c =
			&g_array_index(plan->complexes, struct complex, k);

		for (int n = 0; c->socket == from && n < t->nr_node_ids; n++)
			if (topology_node_has_memory(t, n) &&
			    t->nodes[n].socket == to)
				return way(plan->m, c->node, n);
	}
	return 0;
}

static void add_link(GString *x, const char *id, uint64_t cycles)
{
	/* The bandwidth of an empty machine is no limit here: controllers
	 * have their own queue in memory.c. */
	g_string_append_printf(x, "<link id=\"%s\" bandwidth=\"1e15Bps\" "
				  "latency=\"%" G_GUINT64_FORMAT "s\" "
				  "sharing_policy=\"FATPIPE\"/>\n",
			       id, cycles);
}

/* A zone of one host. A bypassZoneRoute asks for the way from the host to the
 * gateway even where they are one, so there is a route from it to itself. */
static void add_host(GString *x, const char *zone, const char *host)
{
	g_autofree char *link = g_strdup_printf("self-%s", host);

	g_string_append_printf(x, "<zone id=\"%s\" routing=\"Full\">"
				  "<host id=\"%s\" speed=\"1f\"/>\n",
			       zone, host);
	add_link(x, link, 0);
	g_string_append_printf(x, "<route src=\"%s\" dst=\"%s\">"
				  "<link_ctn id=\"%s\"/></route></zone>\n",
			       host, host, link);
}

static void add_socket(struct plan *plan, int socket)
{
	const struct topology *t = plan->m->topology;
	GString *x = plan->xml, *routes = g_string_new(NULL);
	uint64_t dram = machine_whole(plan->m, plan->m->params->dram_local_ns);

	g_string_append_printf(x, "<zone id=\"socket-%d\" routing=\"Full\">\n"
				  "<zone id=\"edge-%d\" routing=\"Full\">"
				  "<router id=\"out-%d\"/></zone>\n",
			       socket, socket, socket);
	for (guint k = 0; k < plan->complexes->len; k++) {
		struct complex *c =
			&g_array_index(plan->complexes, struct complex, k);
		g_autofree char *name =
			g_strdup_printf("%d-node-%d", c->l3, c->node);

		g_autofree char *zone = g_strdup_printf("l3-%s", name);
		g_autofree char *host =
			g_strdup_printf("cpu-%d-%d", c->l3, c->node);

		if (c->socket != socket)
			continue;
		add_host(x, zone, host);
		g_string_append_printf(
			routes,
			"<zoneRoute src=\"l3-%s\" dst=\"edge-%d\" "
			"gw_src=\"cpu-%d-%d\" gw_dst=\"out-%d\">"
			"<link_ctn id=\"port-%d\"/></zoneRoute>\n",
			name, socket, c->l3, c->node, socket, socket);
		for (int n = 0; n < t->nr_node_ids; n++) {
			g_autofree char *link = NULL;

			if (!topology_node_has_memory(t, n) ||
			    t->nodes[n].socket != socket)
				continue;
			link = g_strdup_printf("fabric-%s-mem-%d", name, n);
			add_link(x, link, way(plan->m, c->node, n));
			g_string_append_printf(
				routes,
				"<zoneRoute src=\"l3-%s\" dst=\"node-%d\" "
				"gw_src=\"cpu-%d-%d\" gw_dst=\"mem-%d\" "
				"symmetrical=\"NO\"><link_ctn id=\"%s\"/>"
				"<link_ctn id=\"dram-%d\"/></zoneRoute>\n",
				name, n, c->l3, c->node, n, link, n);
		}
	}
	for (int n = 0; n < t->nr_node_ids; n++) {
		g_autofree char *link = g_strdup_printf("dram-%d", n);
		g_autofree char *zone = g_strdup_printf("node-%d", n);
		g_autofree char *host = g_strdup_printf("mem-%d", n);

		if (!topology_node_has_memory(t, n) ||
		    t->nodes[n].socket != socket)
			continue;
		add_host(x, zone, host);
		add_link(x, link, dram);
		g_string_append_printf(
			routes,
			"<zoneRoute src=\"edge-%d\" dst=\"node-%d\" "
			"gw_src=\"out-%d\" gw_dst=\"mem-%d\" "
			"symmetrical=\"NO\"><link_ctn id=\"dram-%d\"/>"
			"</zoneRoute>\n",
			socket, n, socket, n, n);
	}
	g_autofree char *port = g_strdup_printf("port-%d", socket);

	add_link(x, port, 0);
	g_string_append(x, routes->str);
	g_string_append(x, "</zone>\n");
	g_string_free(routes, TRUE);
}

/* A pair of nodes in two sockets that is not as far apart as the rule. */
static void add_bypasses(struct plan *plan, GString *routes)
{
	const struct topology *t = plan->m->topology;
	uint64_t dram = machine_whole(plan->m, plan->m->params->dram_local_ns);

	for (guint k = 0; k < plan->complexes->len; k++) {
		struct complex *c =
			&g_array_index(plan->complexes, struct complex, k);

		for (int n = 0; n < t->nr_node_ids; n++) {
			g_autofree char *link = NULL;
			uint64_t cycles = way(plan->m, c->node, n);

			if (!topology_node_has_memory(t, n) ||
			    t->nodes[n].socket == c->socket ||
			    cycles == socket_way(plan, c->socket,
						 t->nodes[n].socket))
				continue;
			link = g_strdup_printf("way-%d-%d-%d", c->l3, c->node,
					       n);
			add_link(plan->xml, link, cycles + dram);
			g_string_append_printf(
				routes,
				"<bypassZoneRoute src=\"l3-%d-node-%d\" "
				"dst=\"node-%d\" gw_src=\"cpu-%d-%d\" "
				"gw_dst=\"mem-%d\"><link_ctn id=\"%s\"/>"
				"</bypassZoneRoute>\n",
				c->l3, c->node, n, c->l3, c->node, n, link);
		}
	}
}

static char *platform_xml(const struct machine *m, GArray *complexes)
{
	const struct topology *t = m->topology;
	struct plan plan = { .m = m, .complexes = complexes,
			     .xml = g_string_new(NULL) };
	GString *routes = g_string_new(NULL);

	g_string_append(plan.xml,
			"<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
			"\"https://simgrid.org/simgrid.dtd\">\n"
			"<platform version=\"4.1\">\n"
			"<zone id=\"machine\" routing=\"Full\">\n");
	for (int s = 0; s < t->nr_sockets; s++)
		add_socket(&plan, s);
	for (int a = 0; a < t->nr_sockets; a++) {
		for (int b = 0; b < t->nr_sockets; b++) {
			g_autofree char *link =
				g_strdup_printf("interconnect-%d-%d", a, b);

			if (a == b)
				continue;
			add_link(plan.xml, link, socket_way(&plan, a, b));
			g_string_append_printf(
				routes,
				"<zoneRoute src=\"socket-%d\" "
				"dst=\"socket-%d\" gw_src=\"out-%d\" "
				"gw_dst=\"out-%d\" symmetrical=\"NO\">"
				"<link_ctn id=\"%s\"/></zoneRoute>\n",
				a, b, a, b, link);
		}
	}
	add_bypasses(&plan, routes);
	g_string_append(plan.xml, routes->str);
	g_string_append(plan.xml, "</zone>\n</platform>\n");
	g_string_free(routes, TRUE);
	return g_string_free(plan.xml, FALSE);
}

/* SimGrid takes signals for itself; they are the program's. */
static void init_simgrid(void)
{
	static const int signals[] = { SIGINT, SIGSEGV, SIGABRT };
	struct sigaction before[G_N_ELEMENTS(signals)];
	const char *contexts = g_getenv("SLUBSIM_CONTEXTS");
	g_autofree char *factory = g_strdup_printf(
		"--cfg=contexts/factory:%s", contexts ? contexts : "raw");
	/* stacks of 128 KiB: a thousand CPUs, untouched pages cost nothing */
	char *argv[] = { "slubsim", factory, "--cfg=contexts/stack-size:128",
			 "--cfg=debug/verbose-exit:off",
			 "--log=root.thres:critical", NULL };
	int argc = G_N_ELEMENTS(argv) - 1;

	for (gsize i = 0; i < G_N_ELEMENTS(signals); i++)
		sigaction(signals[i], NULL, &before[i]);
	simgrid_init(&argc, argv);
	for (gsize i = 0; i < G_N_ELEMENTS(signals); i++)
		sigaction(signals[i], &before[i], NULL);
}

sg_host_t platform_host(const struct machine *m, int cpu)
{
	const struct topology_cpu *c = &m->topology->cpus[cpu];
	g_autofree char *name = g_strdup_printf("cpu-%d-%d", c->l3, c->node);

	return sg_host_by_name(name);
}

static void read_latencies(struct machine *m, GArray *complexes,
			   uint32_t *latency)
{
	const struct topology *t = m->topology;
	int nr = t->nr_node_ids;
	g_autofree uint32_t *row = g_new(uint32_t, nr);

	for (guint k = 0; k < complexes->len; k++) {
		struct complex *c = &g_array_index(complexes, struct complex, k);
		g_autofree char *from =
			g_strdup_printf("cpu-%d-%d", c->l3, c->node);

		for (int n = 0; n < nr; n++) {
			g_autofree char *to = g_strdup_printf("mem-%d", n);

			row[n] = 0;
			if (topology_node_has_memory(t, n))
				row[n] = (uint32_t)(sg_host_get_route_latency(
							    sg_host_by_name(from),
							    sg_host_by_name(to)) +
						    0.5);
		}
		for (int i = 0; i < t->nr_cpu_ids; i++)
			if (t->cpus[i].online && t->cpus[i].l3 == c->l3 &&
			    t->cpus[i].node == c->node)
				memcpy(latency + (size_t)i * nr, row,
				       sizeof(*row) * nr);
	}
}

/* SimGrid reads platforms from files only. One without a name goes with the
 * process, however that ends, and asks no disk for room. */
static char *nameless_file(const char *text, int *fd)
{
	size_t left = strlen(text);

	*fd = memfd_create("slubsim-platform.xml", MFD_CLOEXEC);
	if (*fd < 0)
		g_error("platform: %s", g_strerror(errno));
	while (left) {
		ssize_t n = write(*fd, text, left);

		if (n < 0 && errno != EINTR)
			g_error("platform: %s", g_strerror(errno));
		if (n > 0) {
			text += n;
			left -= n;
		}
	}
	return g_strdup_printf("/proc/self/fd/%d", *fd);
}

void platform_load(struct machine *m, uint32_t *latency)
{
	GArray *complexes = find_complexes(m->topology);
	g_autofree char *xml = platform_xml(m, complexes);
	int fd;
	g_autofree char *path = nameless_file(xml, &fd);

	init_simgrid();
	simgrid_load_platform(path);
	close(fd);
	read_latencies(m, complexes, latency);
	g_array_free(complexes, TRUE);
}
