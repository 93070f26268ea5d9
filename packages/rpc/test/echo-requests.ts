/** Requests to the echo service, as each transport writes them. */
import { create, toBinary } from '@bufbuild/protobuf';
import { type StringValue, StringValueSchema } from '@bufbuild/protobuf/wkt';

export const say = '/platform.test.v1.EchoService/Say';
export const hello: StringValue = create(StringValueSchema, { value: 'hello' });
export const helloBytes: Uint8Array = toBinary(StringValueSchema, hello);
/** Headers of a JSON call by a known caller. */
export const json: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  authorization: 'Bearer token-1',
};

/** `code` of an error that was answered in JSON. */
export async function codeOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { code?: unknown }).code;
}
