import { type DescFile, fromJson, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, file_google_protobuf_struct } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import type { ServerReflectionRequest } from '@platform/proto/grpc/reflection/v1alpha/reflection';
import { expect, test } from 'vitest';
import { reflectService } from './reflect-service.ts';
import type { Connection } from './resource-descriptor.ts';

type Asked = ServerReflectionRequest['messageRequest'];
type Bytes = Uint8Array;

/** A server whose reflection answers a request with these files. */
function answering(answer: (asked: string) => readonly Bytes[] | string): Connection {
  async function* serverReflectionInfo(requests: AsyncIterable<{ messageRequest: Asked }>) {
    for await (const { messageRequest } of requests) {
      const found = answer(String(messageRequest.value));
      yield {
        messageResponse:
          typeof found === 'string'
            ? { case: 'errorResponse', value: { errorMessage: found } }
            : { case: 'fileDescriptorResponse', value: { fileDescriptorProto: found } },
      };
    }
  }
  return { client: () => ({ serverReflectionInfo }) as never };
}

const file = (name: string, more: JsonObject): Bytes =>
  toBinary(
    FileDescriptorProtoSchema,
    fromJson(FileDescriptorProtoSchema, { name, package: 'acme', syntax: 'proto3', ...more }),
  );
const known = ({ proto }: DescFile): Bytes => toBinary(FileDescriptorProtoSchema, proto);
const service = (inputType: string): JsonObject => ({
  service: [{ name: 'S', method: [{ name: 'Spin', inputType, outputType: inputType }] }],
});
const message = (name: string, type: string): JsonObject => ({
  messageType: [{ name, field: [{ name: 'of', number: 1, type: 'TYPE_MESSAGE', typeName: type }] }],
});
const struct = 'google/protobuf/struct.proto';

test('a service is described together with the files that its file imports, whatever the order of imports', async () => {
  const files: Readonly<Record<string, Bytes>> = {
    'acme.S': file('s.proto', { dependency: [struct, 'a.proto'], ...service('.acme.A') }),
    'a.proto': file('a.proto', { dependency: ['b.proto', struct], ...message('A', '.acme.B') }),
    'b.proto': file('b.proto', { dependency: [struct], ...message('B', '.google.protobuf.Struct') }),
    [struct]: known(file_google_protobuf_struct),
  };
  const found = await reflectService(
    answering((asked) => [files[asked] ?? new Uint8Array()]),
    'acme.S',
  );
  expect(found.typeName).toBe('acme.S');
  expect(found.method['spin']?.input.fields.map(({ name }) => name)).toEqual(['of']);
});

const nonsense = new Uint8Array([255, 1, 2, 3]);
const own = (more: JsonObject) => file('s.proto', more);
test.each<[string, (asked: string) => readonly Bytes[] | string, string]>([
  ['an error', () => 'no symbol', 'not_found: no symbol'],
  ['nothing', () => [], 'not_found: no file defines acme.S'],
  ['an invalid file', () => [nonsense], 'failed_precondition: acme.S: its description by reflection cannot'],
  ['another service', () => [own({ service: [{ name: 'T' }] })], 'not_found: no file defines acme.S'],
  ['types that are nowhere', () => [own(service('.acme.None'))], 'failed_precondition: acme.S: its description'],
  [
    'a missing import',
    (asked) => (asked === 'acme.S' ? [own({ dependency: ['x.proto'], ...service('.acme.A') })] : []),
    'not_found: the imported file x.proto is missing',
  ],
  [
    'a file that imports itself',
    () => [own({ dependency: ['s.proto'], ...service('.acme.A') })],
    'failed_precondition: acme.S: its description',
  ],
  [
    'files without end',
    (asked) => {
      const at = Number(/\d+/.exec(asked)?.[0] ?? 0);
      return [file(at === 0 ? 's.proto' : asked, { dependency: [`f${at + 1}.proto`], ...service('.acme.A') })];
    },
    'resource_exhausted: acme.S: expected a description of at most 500 files',
  ],
  [
    'a file that is too large',
    () => [own({ ...service('.acme.A'), messageType: [{ name: 'A'.repeat(9 * 1024 * 1024) }] })],
    'resource_exhausted: acme.S: expected a description of at most 500 files and 8388608 bytes',
  ],
])('a server that answers %s is one error', async (_what, answer, expected) => {
  const caught = await reflectService(answering(answer), 'acme.S').catch((error: unknown) => error);
  expect(caught).toBeInstanceOf(PlatformError);
  const { code, message: text } = caught as PlatformError;
  expect(`${code}: ${text}`).toContain(expected);
});
