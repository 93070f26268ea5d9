"""A module for tests in Python, with Debian's packages of gRPC and protobuf, and the field numbers of the public API.

Models: acme:python:counter of sensor (attribute "greeting" is part of its readings; with "raises", its constructor fails, and the
one before is gone, as in the public SDK; a line "details of c" at debug whenever it is built or changed), and acme:python:parrot of a type that only
this module knows; it does not describe its service by reflection.
"""
import os
import signal
import sys
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, struct_pb2

TEXT, BOOL, MESSAGE = 9, 8, 11
PUBLIC = "viam.test."


def build(messages):
    """Message classes by name; a field is name -> (number, type, repeated), where a text type names a message."""
    pool = descriptor_pool.Default()
    file = descriptor_pb2.FileDescriptorProto(name="module_test.proto", package="viam.test", syntax="proto3")
    file.dependency.append("google/protobuf/struct.proto")
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, repeated) in fields.items():
            added = message.field.add(name=field, number=number, label=3 if repeated else 1)
            added.type = kind if isinstance(kind, int) else MESSAGE
            if kind == "Struct":
                added.type_name = ".google.protobuf.Struct"
            elif kind == "Readings":
                entry = message.nested_type.add(name="ReadingsEntry")
                entry.options.map_entry = True
                entry.field.add(name="key", number=1, label=1, type=TEXT)
                entry.field.add(name="value", number=2, label=1, type=MESSAGE, type_name=".google.protobuf.Value")
                added.type_name, added.label = f".viam.test.{name}.ReadingsEntry", 3
            elif not isinstance(kind, int):
                added.type_name = f".viam.test.{kind}"
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return {name: factory.GetPrototype(pool.FindMessageTypeByName(PUBLIC + name)) for name in messages}


M = build(
    {
        "Empty": {},
        "ResourceName": {"namespace": (1, TEXT, False), "type": (2, TEXT, False), "subtype": (3, TEXT, False), "name": (4, TEXT, False)},
        "Subtype": {"subtype": (1, "ResourceName", False), "proto_service": (2, TEXT, False)},
        "Handler": {"subtype": (1, "Subtype", False), "models": (2, TEXT, True)},
        "Handlers": {"handlers": (1, "Handler", True)},
        "ReadyRequest": {"parent_address": (1, TEXT, False)},
        "ReadyResponse": {"ready": (1, BOOL, False), "handlermap": (2, "Handlers", False)},
        "Config": {"name": (1, TEXT, False), "model": (4, TEXT, False), "attributes": (8, "Struct", False), "api": (9, TEXT, False), "log_configuration": (10, "LogConfiguration", False)},
        "LogConfiguration": {"level": (1, TEXT, False)},
        "ConfigRequest": {"config": (1, "Config", False), "dependencies": (2, TEXT, True)},
        "Remove": {"name": (1, TEXT, False)},
        "Named": {"name": (1, TEXT, False)},
        "Readings": {"readings": (1, "Readings", False)},
        "Command": {"name": (1, TEXT, False), "command": (2, "Struct", False)},
        "Result": {"result": (1, "Struct", False)},
        "NamesRequest": {},
        "NamesResponse": {"resources": (1, "ResourceName", True)},
        "LogEntry": {"level": (2, TEXT, False), "logger_name": (4, TEXT, False), "message": (5, TEXT, False)},
        "LogRequest": {"logs": (1, "LogEntry", True)},
    }
)

resources = {}
reads = {}
parent = ""


# Puts the scheme before the parent's address itself, as the public SDKs for Go and C++ do.
def call_parent(address, path, request, answer):
    with grpc.insecure_channel(f"unix://{address}" if address.startswith("/") else address) as channel:
        call = channel.unary_unary(path, M[request[0]].SerializeToString, M[answer].FromString)
        return call(M[request[0]](**request[1]), timeout=10)


def log(level, logger, message):
    entry = M["LogEntry"](level=level, logger_name=logger, message=message)
    call_parent(parent, "/viam.robot.v1.RobotService/Log", ("LogRequest", {"logs": [entry]}), "Empty")


def ready(request, _context):
    global parent
    parent = request.parent_address
    names = call_parent(request.parent_address, "/viam.robot.v1.RobotService/ResourceNames", ("NamesRequest", {}), "NamesResponse")
    log("INFO", "snake", f"the parent has {len(names.resources)} resources")
    handler = lambda namespace, kind, service, model: M["Handler"](
        subtype=M["Subtype"](
            subtype=M["ResourceName"](namespace=namespace, type="component", subtype=kind), proto_service=service
        ),
        models=[model],
    )
    handlers = [
        handler("rdk", "sensor", "viam.component.sensor.v1.SensorService", "acme:python:counter"),
        handler("acme", "parrot", "acme.parrot.v1.ParrotService", "acme:python:parrot"),
    ]
    return M["ReadyResponse"](ready=True, handlermap=M["Handlers"](handlers=handlers))


def add(request, _context):
    attributes = dict(request.config.attributes)
    if attributes.get("raises"):
        raise ValueError("the constructor raises")
    full = f"{request.config.api}/{request.config.name}"
    resources[full] = attributes
    own = request.config.log_configuration.level.upper() or ("DEBUG" if "--log-level=debug" in sys.argv else "INFO")
    if own == "DEBUG":
        log("DEBUG", full.replace(".", "/"), f"module.py:1\tdetails of {request.config.name}")
    return M["Empty"]()


def reconfigure(request, context):
    del resources[f"{request.config.api}/{request.config.name}"]
    return add(request, context)


def remove(request, context):
    if resources.pop(request.name, None) is None:
        context.abort(grpc.StatusCode.NOT_FOUND, request.name)
    return M["Empty"]()


def readings(request, context):
    attributes = resources.get(f"rdk:component:sensor/{request.name}")
    if attributes is None:
        context.abort(grpc.StatusCode.NOT_FOUND, request.name)
    reads[request.name] = reads.get(request.name, 0) + 1
    answer = M["Readings"]()
    values = struct_pb2.Struct()
    values.update({"greeting": attributes.get("greeting", ""), "reads": reads[request.name], "pid": os.getpid()})
    for key, value in values.fields.items():
        answer.readings[key].CopyFrom(value)
    return answer


def repeat(request, _context):
    result = struct_pb2.Struct()
    result.update({**dict(request.command), "parrot": request.name})
    return M["Result"](result=result)


def service(name, methods):
    handlers = {
        method: grpc.unary_unary_rpc_method_handler(run, M[request].FromString, M[answer].SerializeToString)
        for method, (run, request, answer) in methods.items()
    }
    return grpc.method_handlers_generic_handler(name, handlers)


server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
server.add_generic_rpc_handlers(
    (
        service(
            "viam.module.v1.ModuleService",
            {
                "Ready": (ready, "ReadyRequest", "ReadyResponse"),
                "AddResource": (add, "ConfigRequest", "Empty"),
                "ReconfigureResource": (reconfigure, "ConfigRequest", "Empty"),
                "RemoveResource": (remove, "Remove", "Empty"),
            },
        ),
        service("viam.component.sensor.v1.SensorService", {"GetReadings": (readings, "Named", "Readings")}),
        service("acme.parrot.v1.ParrotService", {"DoCommand": (repeat, "Command", "Result")}),
    )
)
address = sys.argv[1]
server.add_insecure_port(address if address.startswith("127.0.0.1:") else f"unix:{address}")
server.start()
signal.signal(signal.SIGTERM, lambda *_: server.stop(0))
print("listening", flush=True)
server.wait_for_termination()
