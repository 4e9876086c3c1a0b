#!/bin/bash
# A dataset made by a Slurm array: each task makes one part, a task that was killed
# goes on where it was, and a job after the array merges the parts. Parts in a bucket
# are made by moonfarm-full.
#
#   array=$(sbatch --parsable slurm.sh)
#   sbatch --dependency=afterok:$array --wrap 'moonfarm merge data/td-parts/* --out data/td'
#
#SBATCH --job-name=moonfarm
#SBATCH --array=0-7
#SBATCH --cpus-per-task=16
#SBATCH --mem=8G
#SBATCH --time=12:00:00
#SBATCH --requeue
#SBATCH --output=moonfarm-%A-%a.log
set -euo pipefail
exec moonfarm generate towerdefence --episodes "${EPISODES:-1000000}" --seed 1 --policy random \
	--workers "$SLURM_CPUS_PER_TASK" --part "$SLURM_ARRAY_TASK_ID/8" --out "data/td-parts/$SLURM_ARRAY_TASK_ID"
