"""The tables of the walking skeleton."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "datasets",
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("hash", "id", "version"),
    )
    op.create_table(
        "experiments",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("descriptor_id", sa.String(), nullable=False),
        sa.Column("descriptor_version", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("dataset_id", sa.String(), nullable=False),
        sa.Column("dataset_version", sa.String(), nullable=False),
        sa.Column("dataset_hash", sa.String(), nullable=False),
        sa.Column("repetitions", sa.Integer(), nullable=False),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("timeout_seconds", sa.Float(), nullable=False),
        sa.Column("sandbox", sa.String(), nullable=False),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("warnings", sa.Text(), nullable=False),
        sa.Column("descriptor", sa.String(), nullable=False),
        sa.Column("extensions", sa.Text(), nullable=False),
        sa.Column("status", sa.String(), nullable=True),
        sa.Column("status_reasons", sa.Text(), nullable=False),
        sa.Column("finished_at", sa.String(), nullable=True),
        sa.Column("record_stamp", sa.Integer(), nullable=False),
        sa.Column("end_stamp", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["dataset_hash", "dataset_id", "dataset_version"],
            ["datasets.hash", "datasets.id", "datasets.version"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_experiments_descriptor_id", "experiments", ["descriptor_id"])
    op.create_table(
        "descriptor_snapshots",
        sa.Column("experiment_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("snapshot", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiments.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("experiment_id", "name"),
    )
    op.create_table(
        "experiment_variants",
        sa.Column("experiment_id", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("values", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.String(), nullable=False),
        sa.Column("agent_config", sa.Text(), nullable=False),
        sa.Column("config_hash", sa.String(), nullable=False),
        sa.Column("is_baseline", sa.Boolean(), nullable=False),
        sa.Column("is_control", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiments.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("experiment_id", "id"),
    )
    op.create_index("ix_experiment_variants_agent_id", "experiment_variants", ["agent_id"])
    op.create_table(
        "tasks",
        sa.Column("experiment_id", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("difficulty", sa.String(), nullable=False),
        sa.Column("dataset", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiments.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("experiment_id", "id"),
    )
    op.create_index("ix_tasks_id", "tasks", ["id"])
    op.create_table(
        "task_runs",
        sa.Column("experiment_id", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("variant_id", sa.String(), nullable=False),
        sa.Column("task_id", sa.String(), nullable=False),
        sa.Column("repetition", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("started", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("started_at", sa.String(), nullable=True),
        sa.Column("finished_at", sa.String(), nullable=True),
        sa.Column("sandbox", sa.String(), nullable=True),
        sa.Column("agent_version", sa.String(), nullable=True),
        sa.Column("model_source", sa.String(), nullable=True),
        sa.Column("oddities", sa.Text(), nullable=False),
        sa.Column("stamp", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id", "task_id"], ["tasks.experiment_id", "tasks.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["experiment_id", "variant_id"],
            ["experiment_variants.experiment_id", "experiment_variants.id"],
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiments.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("experiment_id", "id"),
    )
    op.create_index("ix_task_runs_state", "task_runs", ["state"])
    op.create_table(
        "agent_observations",
        sa.Column("experiment_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=True),
        sa.Column("error_class", sa.String(), nullable=True),
        sa.Column("session_id", sa.String(), nullable=True),
        sa.Column("final_message", sa.String(), nullable=True),
        sa.Column("config", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id", "run_id"], ["task_runs.experiment_id", "task_runs.id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("experiment_id", "run_id"),
    )
    op.create_table(
        "artifacts",
        sa.Column("experiment_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("media_type", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id", "run_id"], ["task_runs.experiment_id", "task_runs.id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("experiment_id", "run_id", "name"),
    )
    op.create_table(
        "evaluations",
        sa.Column("experiment_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("solved", sa.Boolean(), nullable=True),
        sa.Column("tests", sa.Text(), nullable=False),
        sa.Column("touched_protected", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id", "run_id"], ["task_runs.experiment_id", "task_runs.id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("experiment_id", "run_id"),
    )
    op.create_table(
        "events",
        sa.Column("experiment_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=True),
        sa.Column("text", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id", "run_id"], ["task_runs.experiment_id", "task_runs.id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("experiment_id", "run_id", "position"),
    )
    op.create_table(
        "metrics",
        sa.Column("experiment_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("metric", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("source", sa.String(), nullable=True),
        sa.Column("unavailable", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["experiment_id", "run_id"], ["task_runs.experiment_id", "task_runs.id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("experiment_id", "run_id", "metric"),
    )
    op.create_table(
        "model_observations",
        sa.Column("experiment_id", sa.String(), nullable=False),
        sa.Column("run_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["experiment_id", "run_id"], ["task_runs.experiment_id", "task_runs.id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("experiment_id", "run_id", "position"),
    )
    op.create_index("ix_model_observations_model", "model_observations", ["model"])
