/*
 * steps GAME ENVS STEPS: steps without choosing anew and prints the nanoseconds
 * of all steps and the memory of the process, in KiB, after the first tenth of
 * them and at the end.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "moonfarm.h"

static mf_error error = {.size = sizeof error};

static void check(int32_t code)
{
	if (code != MF_OK) {
		fprintf(stderr, "error %d: %s\n", code, error.text);
		exit(1);
	}
}

static long resident(void)
{
	char line[256];
	long kilobytes = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1)
			break;
	if (f)
		fclose(f);
	return kilobytes;
}

int main(int argc, char **argv)
{
	mf_config config = {.size = sizeof config, .seat = MF_ALL_SEATS, .workers = 1};
	mf_spec spec = {.size = sizeof spec};
	mf_slabs slabs = {.size = sizeof slabs};
	mf_handle envs;
	struct timespec from, to;
	if (argc != 4)
		return 2;
	config.game = argv[1];
	config.num_envs = atoi(argv[2]);
	long steps = atol(argv[3]), before = 0;
	check(mf_open(&config, &envs, &error));
	check(mf_get_spec(envs, &spec, &error));
	size_t rows = (size_t)spec.rows;
	slabs.planes = calloc(rows, (size_t)spec.planes * (size_t)spec.height * (size_t)spec.width);
	slabs.scalars = calloc(rows * (size_t)spec.scalars, sizeof *slabs.scalars);
	slabs.mask = calloc(rows * (size_t)spec.mask_words, sizeof *slabs.mask);
	slabs.action = calloc(rows * (size_t)spec.heads, sizeof *slabs.action);
	slabs.reward = calloc(rows, sizeof *slabs.reward);
	check(mf_bind(envs, &slabs, &error));
	check(mf_reset(envs, NULL, NULL, &error));
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (long i = 0; i < steps; i++) {
		if (i == steps / 10)
			before = resident();
		check(mf_step(envs, &error));
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%lld %ld %ld\n", (long long)(to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec, before, resident());
	check(mf_close(envs, &error));
	free(slabs.planes), free(slabs.scalars), free(slabs.mask), free(slabs.action), free(slabs.reward);
	return 0;
}
