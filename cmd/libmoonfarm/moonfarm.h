/*
 * moonfarm.h: the environments of moonfarm for programs in C and in languages
 * that can call C. The library is built with
 *
 *     go build -buildmode=c-shared -o libmoonfarm.so ./cmd/libmoonfarm
 *
 * A program opens environments, binds its own memory to them, and then resets
 * and steps: actions are read from that memory and everything else is written
 * into it, by all cores. cmd/libmoonfarm/examples/example.c does that.
 *
 * Every function but the first three returns MF_OK or the code of an error and
 * fills *e, unless e is NULL. The field size of every struct is set by the
 * caller to its sizeof, that of mf_error too; a struct of another size is an
 * error and is neither read nor written further.
 *
 * Handles are numbers. One that is closed, made up or of another kind is
 * MF_HANDLE. Functions may be called from all threads: calls with one handle
 * wait for each other, those with different handles run side by side.
 *
 * Datasets are opened and read in the same way: every batch is written to memory
 * that the program gives, also where its rows are made by playing the episodes
 * again (mf_reading.play).
 *
 * After fork the child must not call the library: threads of it are missing.
 */
#ifndef MOONFARM_H
#define MOONFARM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MF_ABI 3 /* what mf_abi returns */

typedef uint64_t mf_handle; /* 0: none */

enum {
	MF_OK,
	MF_ARGUMENT, /* an argument is wrong: nothing was done */
	MF_HANDLE,   /* no such handle, or one of another kind */
	MF_STATE,    /* not now: no memory is bound, blocks are under way, a game has ended … */
	MF_DATA,     /* what was read is damaged or of another game or other rules */
	MF_INTERNAL, /* a mistake of the library; the text tells */
	MF_END,      /* there is no more to read */
	MF_TIMEOUT   /* nothing was ready in time */
};

typedef struct {
	uint32_t size;
	int32_t code;
	char text[1016]; /* ends with 0 */
} mf_error;

enum { MF_ALL_SEATS = -1, MF_ANY_SEAT = -2 };
enum { MF_NEXT_STEP, MF_SAME_STEP, MF_DISABLED };

typedef struct {
	uint32_t size;
	int32_t num_envs;
	const char *game;      /* as mf_games names it */
	const char *rules;     /* their text, as files of rules have it; NULL: the default */
	const char *reward;    /* one of the rewards of mf_describe; NULL: "result" */
	const char *opponents; /* texts of policies, one a line: each episode draws one for each other seat; NULL: none;
	                          a path with blanks or signs stands in quotes: "my nets/td.onnx"(greedy) */
	int32_t seat;          /* the caller's, from 0; MF_ALL_SEATS: every seat is a row; MF_ANY_SEAT: one is drawn for each episode */
	int32_t autoreset;     /* MF_NEXT_STEP, MF_SAME_STEP, MF_DISABLED: as Gymnasium has them */
	int32_t max_turns;     /* games are cut after so many turns; 0: only the rules end them */
	int32_t memory;        /* not 0: planes show what was last seen where fog of war hides it */
	int32_t workers;       /* threads that step; 0: one for each core */
	int32_t batch_size;    /* environments in a block of mf_send and mf_recv, a divisor of num_envs; 0: all */
	uint64_t seed;         /* environment i begins with seed+i, until mf_reset is given others */
} mf_config;

typedef struct {
	uint32_t size;
	int32_t players, num_envs;
	int32_t rows;                 /* num_envs, or num_envs*players with MF_ALL_SEATS: row env*players+seat */
	int32_t blocks, batch_size;   /* block b has the environments from b*batch_size on, and their rows */
	int32_t planes, height, width;
	int32_t words;                /* of the packed form of the planes */
	int32_t scalars, mask_words, heads;
	int32_t choices;              /* sum over all heads */
	int32_t masked_choices;       /* sum over the heads that have a mask: so many bits of mask count */
	int32_t max_orders;           /* of one seat in one turn */
	int32_t max_turns;            /* no episode is longer */
} mf_spec;

/*
 * Memory of the caller, in C order; NULL: not wanted. It must be aligned to its
 * type, must not overlap (an error), and must stay until the handle is closed or other memory
 * is bound. The caller reads and writes it while no call of the handle runs; rows
 * of a block that is under way are the library's. What would have no elements,
 * such as the scalars of a game without, is ignored.
 */
typedef struct {
	uint32_t size, reserved;      /* reserved: 0 */
	uint8_t *planes;              /* [rows, planes, height, width] */
	uint64_t *packed;             /* [rows, words] */
	float *scalars;               /* [rows, scalars] */
	uint64_t *mask;               /* [rows, mask_words]: bit i%64 of word i/64 is choice i, head after head; once the game has ended, in each head the choice that orders nothing alone ("nothing" of mf_describe) */
	uint64_t *key;                /* [rows] seed for the row's random choices this turn */
	int32_t *action;              /* [rows, heads] read by steps, never written; -1: nothing */
	float *reward;                /* [rows] of the latest step */
	uint8_t *terminated;          /* [num_envs] 1: the rules ended the game in the latest step */
	uint8_t *truncated;           /* [num_envs] 1: a limit cut it */
	int32_t *turn;                /* [num_envs] turns played */
	uint8_t *seat;                /* [num_envs] of the caller; NULL with MF_ALL_SEATS */
	uint64_t *episode;            /* [num_envs] number of the episode, from 0 */
	uint8_t *final_planes;        /* like planes and so on, NULL but for MF_SAME_STEP: the last observation of the latest ended episode */
	uint64_t *final_packed;
	float *final_scalars;
	float *final_score;           /* [rows] how the latest ended episode ended, in every mode: the game's score, */
	float *final_result;          /* [rows] and +1 for the first to -1 for the last */
	uint8_t *opponent;            /* [num_envs, players] which line of mf_config.opponents plays each seat, from 0; 255: the caller; NULL with MF_ALL_SEATS */
} mf_slabs;

enum { MF_ALL, MF_TRAIN, MF_VALIDATION, MF_TEST };

/* How a dataset is read. All 0, but for size: all columns of all rows in their order. */
typedef struct {
	uint32_t size;
	int32_t split;            /* MF_ALL, MF_TRAIN, MF_VALIDATION, MF_TEST: an episode as a whole is in one of the three */
	double validation, test;  /* their shares of the episodes */
	const char *columns;      /* names of the columns, one a line; NULL: all that there are but "opponent" and "orders" */
	int64_t rows;             /* of a batch; the last may have fewer; 0: 1024 */
	int64_t shuffle;          /* not 0: rows are shuffled in windows of so many, and files too */
	uint64_t seed, epoch;     /* they choose the order */
	int32_t part, parts;      /* read part 0 … parts-1 of the episodes; parts 0: all. Parts are apart and together the whole */
	int32_t play;             /* not 0: rows are made by playing the episodes again. What follows can be chosen then alone */
	int32_t whole;            /* not 0: a batch is an episode, and shuffle is for the order of episodes alone */
	int32_t memory;           /* with obs: planes show what was last seen where fog of war hides it */
	int32_t workers;          /* threads that play; 0 or 1: the one that calls mf_reader_next */
	const char *obs;          /* "planes", "packed" or "none", which is without masks and actions too; NULL: as the dataset */
	const char *reward;       /* NULL: as the dataset */
	double discount;          /* of the returns; 0: as the dataset */
	int32_t steps;            /* not 0: the column nstep is the return of so many turns */
	int32_t reserved;         /* 0 */
	const char *filter;       /* NULL: all rows. Lines that the rows must match, of those of one key one: policy=NAME of who chose, or of the
	                           * member of its mix, seat=0, chosen=0 (number of the member), outcome=win (draw, loss), opening=no leaves out
	                           * the turns of an opening. Not with whole */
} mf_reading;

/*
 * Memory for the rows of a batch, in C order; NULL: not wanted. A column that the
 * reader does not have is not written. FORMAT.md of the datasets documents all.
 */
typedef struct {
	uint32_t size, reserved;      /* reserved: 0 */
	int64_t capacity;             /* rows for which there is room */
	int64_t rows;                 /* set to those of the batch */
	int64_t orders_capacity;      /* orders for which there is room, if any are wanted */
	int64_t orders_count;         /* set to those of the batch */
	uint64_t *episode;            /* [rows] */
	int32_t *turn;                /* [rows] */
	uint8_t *seat;                /* [rows] */
	uint8_t *planes;              /* [rows, planes, height, width] */
	uint64_t *packed;             /* [rows, words] */
	float *scalars;               /* [rows, scalars] */
	uint64_t *mask;               /* [rows, mask_words] */
	int32_t *action;              /* [rows, heads] */
	int32_t *opponent;            /* [rows, seats-1, heads] */
	float *reward, *returns, *nstep, *outcome;      /* [rows] */
	uint8_t *terminated, *truncated, *chosen;       /* [rows] */
	uint64_t *orders;             /* [orders_count] of all rows, one after the other */
	int32_t *order_ends;          /* [rows+1] those of row i are orders[order_ends[i]] up to orders[order_ends[i+1]] */
	uint8_t *final_planes;        /* with mf_reading.whole: what the seats see after the last turn, [seats, planes, height, width], */
	uint64_t *final_packed;       /* [seats, words], */
	float *final_scalars;         /* [seats, scalars] */
	int64_t moves_capacity;       /* moves of searches for which there is room, if any are wanted */
	int64_t moves_count;          /* set to those of the batch */
	int64_t choices_capacity;     /* choices of these moves, in the same way */
	int64_t choices_count;
	float *search_value;          /* [rows] */
	float *search_policy;         /* [moves_count] of all rows, one after the other */
	int32_t *search_counts;       /* [moves_count]; none in games of one head */
	int32_t *search_ends;         /* [rows+1] of the moves, like order_ends */
	int32_t *search_choices;      /* [choices_count] */
	int32_t *search_choice_ends;  /* [rows+1] of the choices */
} mf_batch;

/* How recordings are imported. All 0, but for size, game, files and out: as moonfarm import does without flags. */
typedef struct {
	uint32_t size;
	int32_t workers;          /* files and shards at once; 0: one for each core */
	const char *game;         /* "towerdefence", "terminal" or "codecraft" */
	const char *files;        /* paths of the recordings, one a line */
	const char *out;          /* folder of the dataset: new, empty, or from an earlier call with the same arguments */
	const char *rules;        /* rules that the recordings do not tell, or the name of a rule set; NULL: the default */
	const char *reward;       /* NULL: "result" */
	const char *obs;          /* "planes", "packed" or "none"; NULL: "planes" */
	const char *license;      /* name of the licence on the dataset's card; NULL: none */
	double discount;          /* of the returns; 0: 1 */
	int64_t shard_episodes;   /* episodes in one file; 0: as many as moonfarm import chooses for the game */
	int32_t keep;             /* not 0: keep the turns before the first difference, or before a recording broke off */
	int32_t memory;           /* not 0: planes show what was last seen where fog of war hides it */
} mf_import;

#ifndef MF_TYPES_ONLY

uint32_t mf_abi(void);                /* MF_ABI of the library */
uint32_t mf_sizeof(const char *name); /* of a struct of this file, such as "mf_config"; 0: unknown */
const char *mf_version(void);         /* never NULL; stays */

/* mf_open makes environments. They begin with mf_bind and mf_reset. */
int32_t mf_open(const mf_config *c, mf_handle *out, mf_error *e);

/* mf_close takes any kind of handle. It waits for calls and blocks under way, less what opponents would still search. */
int32_t mf_close(mf_handle h, mf_error *e);

int32_t mf_get_spec(mf_handle h, mf_spec *out, mf_error *e);

/*
 * Functions with cap and need write at most cap bytes to buf and set *need to
 * the size of the whole. If that is more than cap, nothing is written to buf and
 * the code is MF_OK; buf may be NULL if cap is 0. Behind a text a 0 byte is
 * written if there is room for one: if cap is more than *need, which does not
 * count it.
 */

/* mf_describe tells as JSON what planes, scalars, actions and rewards mean. */
int32_t mf_describe(mf_handle h, char *buf, size_t cap, size_t *need, mf_error *e);

/* mf_bind names the memory that all later calls read and write. */
int32_t mf_bind(mf_handle h, const mf_slabs *s, mf_error *e);

/*
 * mf_reset begins new episodes and fills observations. seeds [num_envs]: with
 * episode 0 of these; NULL: the next episode of the seed in use. mask [num_envs]:
 * only where it is not 0; NULL: everywhere.
 */
int32_t mf_reset(mf_handle h, const uint64_t *seeds, const uint8_t *mask, mf_error *e);

/*
 * mf_step plays a turn of all environments with the bound actions, mf_step_with
 * with those at another place, int32_t [rows, heads], which are not copied.
 */
int32_t mf_step(mf_handle h, mf_error *e);
int32_t mf_step_with(mf_handle h, const int32_t *action, mf_error *e);

/*
 * mf_step_for is mf_step_with, or mf_step if action is NULL, that waits at most wait_ms
 * milliseconds, so that a program can look at what else happens: opponents that search
 * may take minutes. MF_TIMEOUT: the turn is under way. The next mf_step_for, which
 * ignores action, waits on for it; until the turn is over, action must stay, and all
 * other calls of the handle but mf_interrupt and mf_close are MF_STATE.
 *
 * mf_interrupt ends the turn under way, and returns when it is over. If opponents were
 * still choosing, nothing was played, and the step may be called again; else it was
 * played. Called by another thread while mf_step_for runs (or mf_step and mf_step_with, if
 * opponents search), that returns MF_STATE if nothing was played. With nothing under way
 * it does nothing.
 */
int32_t mf_step_for(mf_handle h, const int32_t *action, int32_t wait_ms, mf_error *e);
int32_t mf_interrupt(mf_handle h, mf_error *e);

/*
 * mf_send begins a turn of one block and returns at once; mf_recv waits at most
 * wait_ms milliseconds, or without end if that is negative, for the block that is
 * ready first, else it returns MF_TIMEOUT. Episodes are those of mf_step.
 */
int32_t mf_send(mf_handle h, int32_t block, mf_error *e);
int32_t mf_recv(mf_handle h, int32_t wait_ms, int32_t *block, mf_error *e);

/*
 * mf_get_state writes one environment as bytes, from which mf_set_state makes it
 * or another of the same game and rules what it was, and writes to the memory
 * what its rows see. An environment of another seat takes it as well: it keeps its seat, and
 * its opponents are drawn from the seed of the state. mf_observe writes that of all environments again, to memory
 * that was just bound say.
 */
int32_t mf_get_state(mf_handle h, int32_t env, uint8_t *buf, size_t cap, size_t *need, mf_error *e);
int32_t mf_set_state(mf_handle h, int32_t env, const uint8_t *buf, size_t n, mf_error *e);
int32_t mf_observe(mf_handle h, mf_error *e);

/*
 * mf_state_from makes a state for mf_set_state of what an original engine sends to a bot:
 * of "towerdefence" a state.json, of "terminal" the line of a deploy frame (rules is then
 * the line of the config), of "codecraft" the bytes of a message with a view, or of a
 * PlayerView. n is the number of its bytes. seat is where the bot sits, -1 where the message
 * tells (terminal does not: 0); seed decides the chance of what follows. What a message does
 * not tell is assumed, as the packages sim/<game>/wire say. An error of the message is
 * MF_DATA and names the field. mf_message_describe tells as JSON the rules, the seat and the
 * number of players, for mf_open. The state is for environments of these rules.
 */
int32_t mf_state_from(const char *game, const char *rules, const uint8_t *message, size_t n, int32_t seat, uint64_t seed,
	uint8_t *buf, size_t cap, size_t *need, mf_error *e);
int32_t mf_message_describe(const char *game, const char *rules, const uint8_t *message, size_t n, int32_t seat,
	char *buf, size_t cap, size_t *need, mf_error *e);

/*
 * mf_answer_from writes what a bot at the seat answers to play an action, int32_t [heads],
 * in a state of these rules: of "towerdefence" the text of a command.txt, of "terminal" two
 * lines, of "codecraft" the bytes of a message.
 */
int32_t mf_answer_from(const char *game, const char *rules, const uint8_t *state, size_t n, int32_t seat,
	const int32_t *action, int32_t heads, uint8_t *buf, size_t cap, size_t *need, mf_error *e);

/* mf_render draws the board of one environment as text, all that there is on it. */
int32_t mf_render(mf_handle h, int32_t env, char *buf, size_t cap, size_t *need, mf_error *e);

/*
 * mf_games lists all games as JSON: name, doc, players, max_turns, shapes (of a row: planes, packed, scalars, mask),
 * heads, rewards (name, doc), policies (name, doc), rules (key, value, least, most, doc).
 */
int32_t mf_games(char *buf, size_t cap, size_t *need, mf_error *e);

/*
 * mf_verify_recording plays the games of a recording of an original engine again and
 * compares every field; rules is the text of rules that the recording does not tell, or the
 * name of a rule set, and NULL the default. mf_import_recordings makes a dataset of
 * recordings. Both begin a task and return. mf_task_result waits at most wait_ms
 * milliseconds, or without end if that is negative, for the end of a task: MF_TIMEOUT, or
 * its result as JSON with the keys that moonfarm replay verify --json (of one of its files)
 * and moonfarm import --json document. A recording that cannot be read to its end is no
 * error: key "error" of the result tells. Recordings that are skipped are no error either.
 * mf_close ends a task; an import that was ended continues if it is begun again.
 */
int32_t mf_verify_recording(const char *file, const char *rules, mf_handle *out, mf_error *e);
int32_t mf_import_recordings(const mf_import *c, mf_handle *out, mf_error *e);
int32_t mf_task_result(mf_handle h, int32_t wait_ms, char *buf, size_t cap, size_t *need, mf_error *e);

/*
 * mf_dataset_open opens the dataset in a folder; in a library that is built with -tags stores also at an URL such as
 * s3://bucket/data/td. Readers stay when it is closed.
 */
int32_t mf_dataset_open(const char *folder, mf_handle *out, mf_error *e);

/* mf_dataset_describe tells what it is as JSON: its manifest. */
int32_t mf_dataset_describe(mf_handle h, char *buf, size_t cap, size_t *need, mf_error *e);

/*
 * mf_reader_open begins to read a dataset. mf_reader_describe lists its columns as
 * JSON: name, type, shape of a row. mf_reader_next writes the next batch and
 * returns MF_END after the last. If the batch has more rows than capacity, or more
 * orders, moves or choices than there is room for where they are wanted, then only
 * rows and the three counts are set, and the same batch comes again. While the
 * program works with a batch, the next ones are made, unless mf_reading.workers is
 * one that plays. After an error there is no more to read.
 */
int32_t mf_reader_open(mf_handle dataset, const mf_reading *r, mf_handle *out, mf_error *e);
int32_t mf_reader_describe(mf_handle h, char *buf, size_t cap, size_t *need, mf_error *e);
int32_t mf_reader_next(mf_handle h, mf_batch *b, mf_error *e);

/*
 * mf_advantages writes to out, which may be reward or value, the generalised
 * advantage estimates (Schulman and others, 2016) of an episode: reward, value
 * and out are [turns, columns], a column is what one player sees. value is what
 * the caller estimates, last [columns] what comes after the last turn: the
 * estimate of the final observation if a limit cut the episode; NULL: 0.
 */
int32_t mf_advantages(const float *reward, const float *value, const float *last, int64_t turns, int64_t columns,
	double discount, double lambda, float *out, mf_error *e);

#endif /* MF_TYPES_ONLY */

#ifdef __cplusplus
}
#endif

#endif /* MOONFARM_H */
