#!/bin/bash
# Training job 'demo', written by smtc-lab. Submit it with: sbatch FILE
# Options of your site go before FILE, one set for each instance group, in the order below:
#   sbatch --partition=NAME : --partition=NAME FILE
#SBATCH --job-name=demo
#SBATCH --time=1442
#SBATCH --no-requeue
# dnn_group: 1 x ml.p4d.24xlarge, trains
#SBATCH --nodes=1 --ntasks-per-node=1 --cpus-per-task=96 --mem=921G --gpus-per-node=8
#SBATCH hetjob
# data_group: 2 x ml.c5.18xlarge, prepares data
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=72 --mem=115G
exec /opt/venv/bin/python -m smtc_lab.launchers.render.slurm_start /shared/runs <<'END_OF_JOB'
{
 "entry_point": "/shared/code/train.py",
 "cluster": {
  "instance_groups": [
   {
    "instance_group_name": "dnn_group",
    "instance_type": "ml.p4d.24xlarge"
   },
   {
    "instance_group_name": "data_group",
    "instance_type": "ml.c5.18xlarge",
    "instance_count": 2
   }
  ]
 },
 "job_name": "demo",
 "hyperparameters": {
  "batch_size": 32,
  "note": "it's $HOME"
 },
 "max_steps": 100
}
END_OF_JOB
