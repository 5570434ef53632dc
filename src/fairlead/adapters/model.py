"""A plain model as an agent: a program of ours that asks it through the official client.

It runs behind the same supervision as every other agent, so that its limits hold whatever a
client or a network does, and what a client loads stays out of our own process. The key is in its
environment alone; what is asked of it stands in a variable and on standard input.
"""

import json
import os
import sys
from functools import partial

from fairlead.adapters.agent import Row
from fairlead.model.agent_orders import Order
from fairlead.model.agent_streams import Stream
from fairlead.model.model_services import ModelService

CALL = "_FAIRLEAD_MODEL_CALL"  # what the program is asked to do, as JSON


def row(service: ModelService) -> Row:
    """How a plain model is used."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "model_program.py")
    address = () if service.base_url else (service.address_env,)
    return Row(
        name=service.name,
        programs=(sys.executable,),
        stream=Stream.MODEL,
        words=lambda _: (),
        keys=(*((service.key_env,) if service.key_env else ()), *address),
        secrets=(service.key_env,),
        settings_for=partial(_call, service),
        first_words=("-P", program),  # what lies in the folder is not imported
        family=service.family,
        service=service,
    )


def client_version(service: ModelService) -> str:
    """The version of the client that the service needs; empty if it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(service.kind)
    except metadata.PackageNotFoundError:
        return ""


def _call(service: ModelService, order: Order) -> dict[str, str]:
    held = {
        "kind": service.kind,
        "name": service.name,
        "model": order.model or service.model,
        "base_url": service.base_url,
        "key_env": service.key_env,
        "max_tokens": order.max_tokens,
        "seconds": order.limits.wall.total_seconds(),
        "usd_in": service.usd_in,
        "usd_out": service.usd_out,
    }
    return {CALL: json.dumps(held)}
