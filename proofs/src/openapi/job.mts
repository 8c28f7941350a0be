// One job by openapi-fetch with the types that openapi-typescript makes: list, read, create, update, upload, read what a 422
// tells. Arguments: the address and a key. The compiler checks that every answer has a type.

import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type IsAny<T> = 0 extends 1 & T ? true : false;
/** An answer whose type is known; the compiler refuses any other. */
function typed<T>(value: IsAny<T> extends true ? never : T): T {
  return value as T;
}

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const [baseUrl, key] = process.argv.slice(2);
const client = createClient<paths>({
  baseUrl,
  headers: { Accept: "application/vnd.service.v2.3+json", "x-api-key": key },
});

function there<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) {
    throw new Error(JSON.stringify(answer.error));
  }
  return answer.data;
}

async function count(): Promise<number | undefined> {
  const page = there(await client.GET("/chapter", { params: { query: { season: "all" } } }));
  return typed<components["schemas"]["ChapterPage"]>(page).total;
}

const seasons = there(await client.GET("/season", { params: { query: { per_page: 5 } } }));
const season = typed<components["schemas"]["SeasonPage"]>(seasons).data[0].slug;
const before = await count();
const body = { status: "active" as const, translated: { name: { en_GB: "Coast" } } };
const refused = await client.POST("/chapter", { body: { ...body, season: "AAAAAAAA" } });
if (refused.response.status !== 422 || refused.error === undefined || !("errors" in refused.error)) {
  throw new Error("a wrong season was taken");
}
const errors = (refused.error as components["schemas"]["ValidationError"]).errors ?? {};
if (errors.season?.[0] !== "AAAAAAAA is no season of the account") {
  throw new Error(JSON.stringify(errors));
}
const made = typed<components["schemas"]["Chapter"]>(there(await client.POST("/chapter", { body: { ...body, season } })));
const path = { slug: made.slug };
there(await client.PUT("/chapter/{slug}", { params: { path }, body: { translated: { name: { en_GB: "Coasts" } } } }));
const file = there(
  await client.POST("/chapter/{slug}/upload", { params: { path }, body: { filename: "a.png", data: PNG } }),
);
typed<components["schemas"]["UploadedFile"]>(file);
const read = typed<components["schemas"]["Chapter"]>(there(await client.GET("/chapter/{slug}", { params: { path } })));
if (read.name.en_GB !== "Coasts" || (await count()) !== (before ?? 0) + 1) {
  throw new Error(JSON.stringify(read));
}
console.log("done");
