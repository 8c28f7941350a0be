// Verifies deliveries with the official library, where a delivery is one line of JSON. Usage: verify.mjs FILE

import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

function isGood({ headers }, key, body) {
  const secret = `whsec_${Buffer.from(key).toString("base64")}`;
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

function assert(holds, what) {
  if (!holds) throw new Error(what);
}

let count = 0;
for (const line of readFileSync(process.argv[2], "utf8").split("\n").filter((line) => line !== "")) {
  const delivery = JSON.parse(line);
  const what = `${delivery.headers["webhook-id"]} (${delivery.what})`;
  const body = Buffer.from(delivery.body, "base64");
  const mac = createHmac("sha256", delivery.key).update(body).digest("hex");
  assert(delivery.headers.signature === mac, `${what}: the Signature is not ${mac}`);
  for (const key of delivery.good) {
    assert(isGood(delivery, key, body), `${what}: refused with the key ${key}`);
    assert(!isGood(delivery, key, Buffer.concat([body, Buffer.from(" ")])), `${what}: another body is taken`);
  }
  for (const key of delivery.wrong) {
    assert(!isGood(delivery, key, body), `${what}: taken with the key ${key}`);
  }
  count += 1;
}
console.log(count);
