"""The tests inside the dataset belong to its tasks: they run in the tasks' workspaces, never here."""

collect_ignore_glob = ["src/akbench_examples/project/*", "src/akbench_examples/adversaries/*"]
