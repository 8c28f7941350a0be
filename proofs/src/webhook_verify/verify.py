"""Verifies deliveries with the official library, and by hand, where a delivery is one line of JSON.

Usage: verify.py FILE [library]
"""

import base64
import hashlib
import hmac
import json
import sys

HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")


def by_hand(delivery, key: str, body: bytes) -> bool:
    headers = delivery["headers"]
    signed = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    wanted = "v1," + base64.b64encode(hmac.digest(key.encode(), signed, "sha256")).decode()
    return wanted in headers["webhook-signature"].split(" ")


def by_library(delivery, key: str, body: bytes) -> bool:
    from standardwebhooks import Webhook, WebhookVerificationError

    secret = "whsec_" + base64.b64encode(key.encode()).decode()
    headers = {name: delivery["headers"][name] for name in HEADERS}
    try:
        Webhook(secret).verify(body, headers, json_parse=False)
    except WebhookVerificationError:
        return False
    return True


def main(file: str, *library: str) -> None:
    ways = [by_hand, by_library] if library else [by_hand]
    count = 0
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            delivery = json.loads(line)
            what = f"{delivery['headers']['webhook-id']} ({delivery['what']})"
            body = base64.b64decode(delivery["body"])
            mac = hmac.new(delivery["key"].encode(), body, hashlib.sha256).hexdigest()
            assert delivery["headers"]["signature"] == mac, f"{what}: the Signature is not {mac}"
            for way in ways:
                for key in delivery["good"]:
                    assert way(delivery, key, body), f"{what}: {way.__name__} refuses it with the key {key}"
                    assert not way(delivery, key, body + b" "), f"{what}: {way.__name__} takes another body"
                for key in delivery["wrong"]:
                    assert not way(delivery, key, body), f"{what}: {way.__name__} takes it with the key {key}"
            count += 1
    print(count)


main(*sys.argv[1:])
