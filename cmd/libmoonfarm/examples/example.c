/*
 * Plays 1,000 turns of 64 games of Tower Defence against a script with random choices, and
 * prints a checksum of all choices and rewards. To build and run it beside the library:
 *
 *     go build -buildmode=c-shared -o libmoonfarm.so ./cmd/libmoonfarm
 *     gcc -I cmd/libmoonfarm cmd/libmoonfarm/examples/example.c -L. -lmoonfarm -Wl,-rpath,. -o example
 *     ./example
 */
#include <stdio.h>
#include <stdlib.h>
#include "moonfarm.h"

enum { GAMES = 64, WORDS = 6 }; /* words of a mask, as mf_get_spec reports */

static mf_error error = {.size = sizeof error};

static void check(int32_t code)
{
	if (code == MF_OK)
		return;
	fprintf(stderr, "moonfarm: error %d: %s\n", code, error.text);
	exit(1);
}

/* choice returns the first legal choice from the one that the key selects on, or -1 if there is none. */
static int32_t choice(const uint64_t *mask, uint64_t key)
{
	for (uint64_t i = key % (64 * WORDS), left = 64 * WORDS; left > 0; i = (i + 1) % (64 * WORDS), left--)
		if (mask[i / 64] >> i % 64 & 1)
			return (int32_t)i;
	return -1;
}

int main(void)
{
	static uint64_t mask[GAMES][WORDS], key[GAMES];
	static int32_t action[GAMES]; /* the game has one head */
	static float reward[GAMES];
	mf_config config = {.size = sizeof config, .game = "towerdefence", .num_envs = GAMES,
		.opponents = "econ\nturtle", .seat = MF_ANY_SEAT, .reward = "score", .seed = 7};
	mf_slabs slabs = {.size = sizeof slabs, .mask = mask[0], .key = key, .action = action, .reward = reward};
	mf_spec spec = {.size = sizeof spec};
	mf_handle envs;
	check(mf_open(&config, &envs, &error));
	check(mf_get_spec(envs, &spec, &error));
	if (spec.rows != GAMES || spec.mask_words != WORDS)
		return 1;
	check(mf_bind(envs, &slabs, &error));
	check(mf_reset(envs, NULL, NULL, &error));
	int64_t sum = 0;
	for (int turn = 0; turn < 1000; turn++) {
		for (int row = 0; row < GAMES; row++)
			sum += (turn + 1) * (action[row] = choice(mask[row], key[row]));
		check(mf_step(envs, &error));
		for (int row = 0; row < GAMES; row++)
			sum += (turn + 1) * (int64_t)reward[row];
	}
	printf("%lld\n", (long long)sum);
	check(mf_close(envs, &error));
	return 0;
}
