/*
 * Plays 1,000 turns of 64 games of Tower Defence against a script, by chance, and
 * prints a sum of all rewards and masks. To build and run it beside the library:
 *
 *     go build -buildmode=c-shared -o libmoonfarm.so ./cmd/libmoonfarm
 *     gcc -I cmd/libmoonfarm cmd/libmoonfarm/examples/example.c -L. -lmoonfarm -Wl,-rpath,. -o example
 *     ./example
 */
#include <stdio.h>
#include <stdlib.h>

#include "moonfarm.h"

static mf_error error = {.size = sizeof error};

static void check(int32_t code)
{
	if (code != MF_OK) {
		fprintf(stderr, "moonfarm: error %d: %s\n", code, error.text);
		exit(1);
	}
}

/* choice is the k-th of the legal choices, with k of that many by the key; -1 if there is none. */
static int32_t choice(const uint64_t *mask, int32_t words, uint64_t key)
{
	int32_t legal = 0;
	for (int32_t i = 0; i < 64 * words; i++)
		legal += mask[i / 64] >> i % 64 & 1;
	int32_t k = legal > 0 ? (int32_t)(key % (uint64_t)legal) : 0;
	for (int32_t i = 0; i < 64 * words; i++)
		if (mask[i / 64] >> i % 64 & 1 && k-- == 0)
			return i;
	return -1;
}

int main(void)
{
	mf_config config = {.size = sizeof config, .game = "towerdefence", .num_envs = 64,
		.opponents = "econ\nturtle", .seat = MF_ANY_SEAT, .reward = "score", .seed = 7};
	mf_spec spec = {.size = sizeof spec};
	mf_slabs slabs = {.size = sizeof slabs};
	mf_handle envs;
	if (mf_abi() != MF_ABI)
		return 1;
	check(mf_open(&config, &envs, &error));
	check(mf_get_spec(envs, &spec, &error));

	size_t rows = (size_t)spec.rows, words = rows * (size_t)spec.mask_words;
	slabs.mask = calloc(words, sizeof *slabs.mask);
	slabs.key = calloc(rows, sizeof *slabs.key);
	slabs.action = calloc(rows, sizeof *slabs.action); /* the game has one head */
	slabs.reward = calloc(rows, sizeof *slabs.reward);
	check(mf_bind(envs, &slabs, &error));
	check(mf_reset(envs, NULL, NULL, &error));

	uint64_t sum = 0xcbf29ce484222325; /* FNV-1a, a number at a time */
	for (int turn = 0; turn < 1000; turn++) {
		for (size_t row = 0; row < rows; row++)
			slabs.action[row] = choice(slabs.mask + row * (size_t)spec.mask_words, spec.mask_words, slabs.key[row]);
		check(mf_step(envs, &error));
		for (size_t i = 0; i < words; i++)
			sum = (sum ^ slabs.mask[i]) * 0x100000001b3;
		for (size_t row = 0; row < rows; row++)
			sum = (sum ^ (uint64_t)(int64_t)slabs.reward[row]) * 0x100000001b3;
	}
	printf("%016llx\n", (unsigned long long)sum);
	check(mf_close(envs, &error));
	free(slabs.mask), free(slabs.key), free(slabs.action), free(slabs.reward);
	return 0;
}
