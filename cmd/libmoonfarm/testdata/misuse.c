/*
 * misuse SEED COUNT: calls the library wrongly so many times, by chance, and
 * demands an error of the right kind of each. Beside them it plays games rightly
 * and demands that they go as in a twin that is left alone. It prints how often
 * each code was returned.
 */
#define _DEFAULT_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "moonfarm.h"

enum { CODES = MF_MEMORY + 1, ENVS = 6, BLOCK = 3 };

static uint64_t state;
static long counts[CODES];
static const char *doing = "";
static int64_t number;

static uint64_t next(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t below(uint64_t n) { return next() % n; }

static void fail(const char *what, long long got, const char *text)
{
	printf("misuse %lld, %s: %s (%lld) %s\n", (long long)number, doing, what, got, text);
	exit(1);
}

/* want demands one of two codes and a text that goes with it. */
static void want(int32_t code, mf_error *e, int32_t a, int32_t b)
{
	if (code < 0 || code >= CODES)
		fail("no code", code, "");
	counts[code]++;
	if (code != a && code != b)
		fail("another code", code, e ? e->text : "");
	if (e == NULL || e->size != sizeof *e)
		return;
	if (e->code != code)
		fail("mf_error has another code", e->code, e->text);
	if (memchr(e->text, 0, sizeof e->text) == NULL || (code != MF_OK) != (e->text[0] != 0))
		fail("mf_error has no text, or one too many", code, "");
}

/* envs are environments with their memory. */
typedef struct {
	mf_handle handle;
	mf_spec spec;
	mf_slabs slabs;
	uint64_t choices;
} envs;

static mf_error fine = {.size = sizeof fine};

static void ok(int32_t code) { want(code, &fine, MF_OK, MF_OK); }

static mf_config config(void)
{
	mf_config c = {.size = sizeof c, .game = "tron", .num_envs = ENVS, .opponents = "random", .seat = MF_ANY_SEAT,
		.autoreset = MF_NEXT_STEP, .workers = 2, .batch_size = BLOCK, .seed = 3};
	return c;
}

static envs open_envs(void)
{
	envs v = {.spec.size = sizeof v.spec, .slabs.size = sizeof v.slabs, .choices = 5};
	mf_config c = config();
	ok(mf_open(&c, &v.handle, &fine));
	ok(mf_get_spec(v.handle, &v.spec, &fine));
	v.slabs.planes = calloc((size_t)v.spec.rows, (size_t)v.spec.planes * (size_t)v.spec.height * (size_t)v.spec.width);
	v.slabs.action = calloc((size_t)v.spec.rows, sizeof *v.slabs.action);
	v.slabs.turn = calloc(ENVS, sizeof *v.slabs.turn);
	ok(mf_bind(v.handle, &v.slabs, &fine));
	ok(mf_reset(v.handle, NULL, NULL, &fine));
	return v;
}

static void close_envs(envs *v)
{
	ok(mf_close(v->handle, &fine));
	free(v->slabs.planes), free(v->slabs.action), free(v->slabs.turn);
}

/* play steps once with actions of the own generator. */
static void play(envs *v)
{
	for (int i = 0; i < v->spec.rows; i++) {
		v->choices = v->choices * 6364136223846793005u + 1442695040888963407u;
		v->slabs.action[i] = (int32_t)(v->choices >> 33) % v->spec.choices;
	}
	ok(mf_step(v->handle, &fine));
}

static void compare(const envs *a, const envs *b)
{
	size_t n = (size_t)a->spec.rows * (size_t)a->spec.planes * (size_t)a->spec.height * (size_t)a->spec.width;
	doing = "the games beside";
	if (memcmp(a->slabs.planes, b->slabs.planes, n) || memcmp(a->slabs.turn, b->slabs.turn, sizeof *a->slabs.turn * ENVS))
		fail("they went another way", 0, "");
}

/* any calls a function by its number with good arguments but for the handle. */
enum { FUNCTIONS = 18 };
static int32_t any(int f, mf_handle h, envs *v, mf_error *e)
{
	char text[64] = {0};
	size_t need;
	int32_t block;
	mf_spec spec = {.size = sizeof spec};
	switch (f) {
	case 0: return mf_step(h, e);
	case 1: return mf_get_spec(h, &spec, e);
	case 2: return mf_describe(h, text, sizeof text, &need, e);
	case 3: return mf_bind(h, &v->slabs, e);
	case 4: return mf_reset(h, NULL, NULL, e);
	case 5: return mf_send(h, 0, e);
	case 6: return mf_recv(h, 0, &block, e);
	case 7: return mf_get_state(h, 0, (uint8_t *)text, sizeof text, &need, e);
	case 8: return mf_set_state(h, 0, (uint8_t *)text, sizeof text, e);
	case 9: return mf_observe(h, e);
	case 10: return mf_render(h, 0, text, sizeof text, &need, e);
	case 11: return mf_step_with(h, v->slabs.action, e);
	case 12: return mf_step_for(h, NULL, -1, e);
	case 13: return mf_interrupt(h, e);
	case 14: return mf_ask(h, "safe", NULL, v->slabs.action, -1, e);
	case 15: return mf_render_rgb(h, 0, 8, (uint8_t *)text, sizeof text, &need, e);
	case 16: return mf_render_svg(h, 0, "a", text, sizeof text, &need, e);
	default: return mf_close(h, e);
	}
}

static mf_handle closed[64]; /* some that were */

static void handles(envs *v, mf_error *e)
{
	mf_handle h = 0;
	doing = "a handle that is none";
	switch (below(5)) {
	case 0: h = closed[below(64)]; break;
	case 1: h = next(); break;
	case 2: h = below(100); break;
	case 3: h = v->handle + ((uint64_t)1 << (24 + below(40))); break; /* another generation */
	case 4: h = v->handle + 1000 + below(1000); break;
	}
	want(any((int)below(FUNCTIONS), h, v, e), e, MF_HANDLE, MF_HANDLE);
}

static void sizes(envs *v, mf_error *e)
{
	uint32_t wrong = (uint32_t)next();
	mf_handle h;
	mf_config c = config();
	mf_spec spec = {.size = wrong};
	mf_slabs slabs = v->slabs;
	mf_error odd = {.size = wrong};
	doing = "a struct of another size";
	c.size = slabs.size = wrong;
	if (wrong == sizeof odd || wrong == sizeof c || wrong == sizeof spec || wrong == sizeof slabs)
		return;
	switch (below(4)) {
	case 0: want(mf_open(&c, &h, e), e, MF_ARGUMENT, MF_ARGUMENT); break;
	case 1: want(mf_get_spec(v->handle, &spec, e), e, MF_ARGUMENT, MF_ARGUMENT); break;
	case 2: want(mf_bind(v->handle, &slabs, e), e, MF_ARGUMENT, MF_ARGUMENT); break;
	case 3:
		want(any((int)below(FUNCTIONS), v->handle, v, &odd), &odd, MF_ARGUMENT, MF_ARGUMENT);
		if (odd.code != 0 || odd.text[0] != 0)
			fail("it was written to", odd.code, "");
	}
}

static void nothing(envs *v, mf_error *e)
{
	mf_handle h;
	mf_config c = config();
	char text[8];
	size_t need;
	int32_t got = 0;
	doing = "NULL";
	switch (below(13)) {
	case 0: got = mf_open(NULL, &h, e); break;
	case 1: got = mf_open(&c, NULL, e); break;
	case 2: got = mf_get_spec(v->handle, NULL, e); break;
	case 3: got = mf_describe(v->handle, text, sizeof text, NULL, e); break;
	case 4: got = mf_describe(v->handle, NULL, 1 + below(1000), &need, e); break;
	case 5: got = mf_bind(v->handle, NULL, e); break;
	case 6: got = mf_recv(v->handle, 0, NULL, e); break;
	case 7: got = mf_get_state(v->handle, 0, NULL, 100, &need, e); break;
	case 8: got = mf_set_state(v->handle, 0, NULL, 100, e); break;
	case 9: got = mf_games(NULL, 7, &need, e); break;
	case 11: got = mf_ask(v->handle, NULL, NULL, v->slabs.action, -1, e); break;
	case 12: got = mf_ask(v->handle, "safe", NULL, NULL, -1, e); break;
	case 10:
		c.game = NULL;
		got = mf_open(&c, &h, e);
	}
	want(got, e, MF_ARGUMENT, MF_ARGUMENT);
	if (mf_sizeof(NULL) != 0 || mf_sizeof("mf_none") != 0)
		fail("the size of nothing", 0, "");
}

static void configs(mf_error *e)
{
	static const char *texts[] = {"", "none", "tron ", "mix(", "mix(1*random", "\xff\xfe", "random\nnone", "2026", "{", "a=b"};
	mf_handle h = 77;
	mf_config c = config();
	int32_t odd = -1 - (int32_t)below(1 << 30);
	const char *text = texts[below(10)];
	doing = "a config";
	switch (below(13)) {
	case 12: c.form = text[0] ? text : "none"; break;
	case 0: c.game = text; break;
	case 1: c.rules = text[0] ? text : "a=b"; break;
	case 2: c.reward = text[0] ? text : "none"; break;
	case 3: c.opponents = text; break;
	case 4: c.num_envs = below(2) ? odd : 0; break;
	case 5: c.num_envs = INT32_MAX, c.game = "codecraft", c.batch_size = 0; break;
	case 6: c.seat = below(2) ? odd - 2 : 2 + (int32_t)below(1000); break;
	case 7: c.autoreset = below(2) ? odd : 3 + (int32_t)below(1000); break;
	case 8: c.max_turns = odd; break;
	case 9: c.workers = below(2) ? odd : 2000 - odd; break;
	case 10: c.batch_size = below(2) ? odd : ENVS - 2 + 3 * (int32_t)below(9); break;
	case 11: c.memory = 1; break; /* there is no fog */
	}
	want(mf_open(&c, &h, e), e, MF_ARGUMENT, MF_MEMORY);
	if (h != 0)
		fail("there is a handle", (long long)h, "");
}

static void arguments(envs *v, mf_error *e)
{
	int32_t at = below(2) ? ENVS + (int32_t)below(1 << 20) : -1 - (int32_t)below(1 << 20);
	int32_t kept;
	char text[4096] = {0};
	size_t need;
	doing = "a number";
	switch (below(9)) {
	case 6: want(mf_render_rgb(v->handle, at, 8, (uint8_t *)text, sizeof text, &need, e), e, MF_ARGUMENT, MF_ARGUMENT); break;
	case 7: want(mf_render_rgb(v->handle, 0, at < 0 ? at : 8193 + at, (uint8_t *)text, sizeof text, &need, e), e, MF_ARGUMENT, MF_ARGUMENT); break;
	case 8: want(mf_render_svg(v->handle, at < 0 ? at : 0, at < 0 ? "a" : NULL, text, sizeof text, &need, e), e, MF_ARGUMENT, MF_ARGUMENT); break;
	case 5: want(mf_ask(v->handle, at < 0 ? "none" : "mcts(ms=1)", NULL, v->slabs.action, -1, e), e, MF_ARGUMENT, MF_ARGUMENT); break;
	case 0: want(mf_get_state(v->handle, at, (uint8_t *)text, sizeof text, &need, e), e, MF_ARGUMENT, MF_ARGUMENT); break;
	case 1: want(mf_set_state(v->handle, at, (uint8_t *)text, 1, e), e, MF_ARGUMENT, MF_ARGUMENT); break;
	case 2: want(mf_render(v->handle, at, text, sizeof text, &need, e), e, MF_ARGUMENT, MF_ARGUMENT); break;
	case 3: want(mf_send(v->handle, at, e), e, MF_ARGUMENT, MF_ARGUMENT); break;
	case 4: {
		int32_t *action = &v->slabs.action[below(ENVS)];
		kept = *action;
		*action = at < 0 ? at - 1 : at;
		want(below(2) ? mf_step(v->handle, e) : mf_step_with(v->handle, v->slabs.action, e), e, MF_ARGUMENT, MF_ARGUMENT);
		*action = kept;
	}
	}
}

static void order(envs *v, mf_error *e)
{
	mf_handle h;
	mf_config c = config();
	int32_t block, b = (int32_t)below(ENVS / BLOCK);
	size_t need;
	doing = "a call at a wrong time";
	if (below(2)) {
		ok(mf_open(&c, &h, &fine));
		switch (below(5)) {
		case 4: want(mf_ask(h, "safe", NULL, v->slabs.action, -1, e), e, MF_STATE, MF_STATE); break;
		case 0: want(mf_step(h, e), e, MF_STATE, MF_STATE); break;
		case 1: want(mf_send(h, b, e), e, MF_STATE, MF_STATE); break;
		case 2: want(mf_recv(h, (int32_t)below(3), &block, e), e, MF_STATE, MF_STATE); break;
		case 3: {
			mf_slabs slabs = v->slabs;
			slabs.turn = NULL; /* mf_bind would write the turns there */
			ok(mf_bind(h, &slabs, &fine));
			want(mf_step(h, e), e, MF_STATE, MF_STATE);
		}
		}
		closed[below(64)] = h;
		ok(mf_close(h, &fine));
		return;
	}
	/* A copy of the games, so that those beside go on as they would. */
	envs w = open_envs();
	ok(mf_send(w.handle, b, &fine));
	switch (below(8)) {
	case 7: want(mf_ask(w.handle, "safe", NULL, w.slabs.action, 1000, e), e, MF_STATE, MF_STATE); break;
	case 0: want(mf_step(w.handle, e), e, MF_STATE, MF_STATE); break;
	case 1: want(mf_send(w.handle, b, e), e, MF_STATE, MF_STATE); break;
	case 2: want(mf_bind(w.handle, &w.slabs, e), e, MF_STATE, MF_STATE); break;
	case 3: want(mf_reset(w.handle, NULL, NULL, e), e, MF_STATE, MF_STATE); break;
	case 4: want(mf_observe(w.handle, e), e, MF_STATE, MF_STATE); break;
	case 5: want(mf_get_state(w.handle, b * BLOCK, NULL, 0, &need, e), e, MF_STATE, MF_STATE); break;
	case 6:
		ok(mf_recv(w.handle, -1, &block, &fine));
		ok(mf_send(w.handle, 1 - b, &fine));
		if (mf_recv(w.handle, 0, &block, e) == MF_TIMEOUT) /* if that block is not ready yet */
			counts[MF_TIMEOUT]++;
	}
	closed[below(64)] = w.handle;
	close_envs(&w);
}

static void buffers(envs *v, mf_error *e)
{
	static uint8_t text[1 << 16];
	size_t need = 0, whole = 0;
	int f = (int)below(6);
	doing = "a short buffer";
	for (int pass = 0; pass < 2; pass++) {
		size_t cap = pass == 0 ? 0 : below(whole);
		memset(text, 0x5a, sizeof text);
		switch (f) {
		case 0: ok(mf_games((char *)text, cap, &need, &fine)); break;
		case 1: ok(mf_describe(v->handle, (char *)text, cap, &need, &fine)); break;
		case 2: ok(mf_render(v->handle, 1, (char *)text, cap, &need, &fine)); break;
		case 3: ok(mf_get_state(v->handle, 1, text, cap, &need, &fine)); break;
		case 4: ok(mf_render_rgb(v->handle, 1, 100, text, cap, &need, &fine)); break;
		case 5: ok(mf_render_svg(v->handle, 1, "a", (char *)text, cap, &need, &fine)); break;
		}
		if (need == 0 || (pass == 1 && need != whole))
			fail("another size", (long long)need, "");
		whole = need;
		for (size_t i = 0; i < sizeof text; i++)
			if (text[i] != 0x5a)
				fail("it was written to", (long long)i, "");
	}
	if (f == 3) { /* and a state that is damaged */
		ok(mf_get_state(v->handle, 1, text, sizeof text, &need, &fine));
		size_t n = below(2) ? below(need) : need;
		if (n == need)
			text[below(need)] ^= (uint8_t)(1u << below(8));
		want(mf_set_state(v->handle, 0, text, n, e), e, MF_DATA, MF_DATA);
	}
}

static uint8_t *gone; /* a page that is not there */

static void wild(envs *v, mf_error *e)
{
	mf_slabs slabs = v->slabs;
	mf_config c = config();
	mf_handle h;
	uint8_t *at = below(2) ? gone + below(4096) : (uint8_t *)(8 + below(4000));
	uint8_t *even = (uint8_t *)((uintptr_t)at & ~(uintptr_t)7);
	doing = "memory that is not there, or there twice";
	switch (below(15)) {
	case 11: want(mf_ask(v->handle, "safe", NULL, (int32_t *)slabs.turn, -1, e), e, MF_ARGUMENT, MF_ARGUMENT); return;
	case 12: want(mf_ask(v->handle, "safe", NULL, (int32_t *)even, 1000, e), e, MF_ARGUMENT, MF_ARGUMENT); return;
	case 13: want(mf_ask(v->handle, "safe", at, slabs.action, 1000, e), e, MF_ARGUMENT, MF_ARGUMENT); return;
	case 14: want(mf_ask(v->handle, (char *)at, NULL, slabs.action, 1000, e), e, MF_ARGUMENT, MF_ARGUMENT); return;
	case 9: slabs.key = (uint64_t *)slabs.planes; break;
	case 10: want(mf_step_with(v->handle, (int32_t *)slabs.turn, e), e, MF_ARGUMENT, MF_ARGUMENT); return;
	case 0: slabs.planes = at; break;
	case 1: slabs.action = (int32_t *)(even + 1 + below(3)); break;
	case 2: slabs.reward = (float *)even; break;
	case 3: want(mf_reset(v->handle, (uint64_t *)even, NULL, e), e, MF_ARGUMENT, MF_ARGUMENT); return;
	case 4: want(mf_reset(v->handle, NULL, at, e), e, MF_ARGUMENT, MF_ARGUMENT); return;
	case 5: want(mf_step(v->handle, (mf_error *)even), NULL, MF_ARGUMENT, MF_ARGUMENT); return;
	case 6: want(mf_get_spec(v->handle, (mf_spec *)even, e), e, MF_ARGUMENT, MF_ARGUMENT); return;
	case 8: want(mf_step_with(v->handle, (int32_t *)even, e), e, MF_ARGUMENT, MF_ARGUMENT); return;
	case 7: c.game = (char *)at; want(mf_open(&c, &h, e), e, MF_ARGUMENT, MF_ARGUMENT); return;
	}
	want(mf_bind(v->handle, &slabs, e), e, MF_ARGUMENT, MF_ARGUMENT);
}

/* lost takes away the memory to which environments of so many workers write. */
static void lost(int workers)
{
	mf_error e = {.size = sizeof e};
	mf_config c = config();
	envs w = {.spec.size = sizeof w.spec, .slabs.size = sizeof w.slabs};
	doing = "memory that is gone";
	c.workers = workers;
	c.batch_size = 1;
	ok(mf_open(&c, &w.handle, &fine));
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	w.slabs.planes = page;
	w.slabs.action = calloc(ENVS, sizeof *w.slabs.action);
	ok(mf_bind(w.handle, &w.slabs, &fine));
	ok(mf_reset(w.handle, NULL, NULL, &fine));
	ok(mf_step(w.handle, &fine));
	mprotect(page, 4096, PROT_READ);
	want(mf_step_with(w.handle, NULL, &e), &e, MF_ARGUMENT, MF_ARGUMENT);
	want(mf_step(w.handle, &e), &e, MF_ARGUMENT, MF_ARGUMENT);
	want(mf_observe(w.handle, &e), &e, MF_ARGUMENT, MF_ARGUMENT);
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	munmap(page, 4096);
	ok(mf_close(w.handle, &fine));
	free(w.slabs.action);
}

/* crowd calls functions of handles that others close at the same time. */
static mf_handle shared[4];
static void *crowd(void *arg)
{
	uint64_t r = (uint64_t)(uintptr_t)arg;
	for (int i = 0; i < 2000; i++) {
		mf_error e = {.size = sizeof e};
		size_t need;
		r = r * 6364136223846793005u + 1442695040888963407u;
		mf_handle h = __atomic_load_n(&shared[r >> 62], __ATOMIC_SEQ_CST);
		int32_t code = r >> 40 & 31 ? mf_get_state(h, 0, NULL, 0, &need, &e) : mf_close(h, &e);
		if (code != MF_OK && code != MF_HANDLE)
			return (void *)1;
		if (code == MF_HANDLE) {
			mf_config c = config();
			if (mf_open(&c, &h, &e) != MF_OK)
				return (void *)1;
			h = __atomic_exchange_n(&shared[r >> 62], h, __ATOMIC_SEQ_CST);
			mf_close(h, &e);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	if (argc != 3)
		return 2;
	state = strtoull(argv[1], NULL, 10);
	gone = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	envs v = open_envs(), twin = open_envs();
	for (number = 0; number < atol(argv[2]); number++) {
		mf_error own = {.size = sizeof own}, *e = below(4) ? &own : NULL;
		switch (below(9)) {
		case 0: handles(&v, e); break;
		case 1: sizes(&v, e); break;
		case 2: nothing(&v, e); break;
		case 3: configs(e); break;
		case 4: arguments(&v, e); break;
		case 5: order(&v, e); break;
		case 6: buffers(&v, e); break;
		case 7: wild(&v, e); break;
		case 8: play(&v), play(&twin); break;
		}
		compare(&v, &twin);
	}
	close_envs(&v), close_envs(&twin);
	for (int i = 1; i <= 4; i++)
		lost(i);
	doing = "threads";
	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, crowd, (void *)(i + 1));
	for (int i = 0; i < 4; i++) {
		void *failed;
		pthread_join(threads[i], &failed);
		if (failed)
			fail("another code", 0, "");
	}
	for (int i = 0; i < 4; i++)
		mf_close(shared[i], NULL);
	for (int i = 0; i < CODES; i++)
		printf("%ld%c", counts[i], i + 1 < CODES ? ' ' : '\n');
	return 0;
}
