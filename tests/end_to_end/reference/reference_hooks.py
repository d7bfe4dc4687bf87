"""Registers one adapter for each way to run an agent, a router, a runtime and a plugin."""

from akbench.spec import AgentRecord, DescriptorRecord, DimensionRecord, PluginRecord, RuntimeRecord, hookimpl

PACKAGE = "reference_adapters"


def record(kind, name, module, target):
    return kind(
        id=name,
        target=f"{PACKAGE}.{module}:{target}",
        summary=name.replace("_", " "),
        descriptors=(f"{PACKAGE}:descriptors/{name}.yaml",),
    )


@hookimpl
def akbench_register_agents():
    return [
        record(AgentRecord, "remote_api", "remote_api", "RemoteApi"),
        record(AgentRecord, "local_service", "local_service", "LocalService"),
        record(AgentRecord, "two_models", "two_models", "TwoModels"),
    ]


@hookimpl
def akbench_register_runtimes():
    return [
        record(RuntimeRecord, "switchboard", "switchboard", "Switchboard"),
        record(RuntimeRecord, "carrier", "carrier", "Carrier"),
    ]


@hookimpl
def akbench_register_plugins():
    return [record(PluginRecord, "annotator", "annotator", "Annotator")]


@hookimpl
def akbench_register_dimensions():
    return [
        DimensionRecord(descriptor=f"{PACKAGE}:descriptors/{name}.yaml")
        for name in ("label_of_router", "annotator_mark", "load_of_router")
    ]


@hookimpl
def akbench_register_descriptors():
    return [DescriptorRecord(descriptor=f"{PACKAGE}:descriptors/annotated_requests.yaml")]
