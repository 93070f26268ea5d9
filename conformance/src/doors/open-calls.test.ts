/** The methods that need no credentials: docs/specs/doors.md. */
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import { connect, type Link } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { allServices } from '../access/descriptors.ts';
import { startMachine } from '../machine/start-machine.ts';
import { startCloud } from '../start-cloud.ts';

type Method = (request: unknown, options: { readonly timeoutMs: number }) => Promise<unknown> | AsyncIterable<unknown>;

async function* one(): AsyncGenerator<object> {
  yield {};
}

/** The code of the error, or `answered`. */
async function callWithout(link: Link, service: DescService, method: DescMethod): Promise<string> {
  const client = link.client(service) as unknown as Readonly<Record<string, Method>>;
  const streams = method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming';
  try {
    const answer = client[method.localName]?.(streams ? one() : {}, { timeoutMs: 60_000 });
    if (answer === undefined) throw new Error(`there is no method ${method.localName}`);
    if (Symbol.asyncIterator in answer) for await (const _ of answer) break;
    else await answer;
    return 'answered';
  } catch (caught) {
    if (caught instanceof PlatformError) return caught.code;
    throw caught;
  }
}

/** The methods that a server has, and answers to callers without credentials. */
async function openMethods(url: string): Promise<{ readonly open: readonly string[]; readonly closed: number }> {
  await using link = connect({ baseUrl: url });
  const open: string[] = [];
  let closed = 0;
  for (const service of await allServices())
    for (const method of service.methods) {
      const code = await callWithout(link, service, method);
      if (code === 'unauthenticated') closed++;
      else if (code !== 'unimplemented') open.push(`${service.typeName}/${method.name}`);
    }
  return { open: open.toSorted(), closed };
}

const authenticate = 'proto.rpc.v1.AuthService/Authenticate';
const expected = [
  'grpc.health.v1.Health/Check',
  'grpc.health.v1.Health/Watch',
  'grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
  'grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
  authenticate,
];

test('D49 every method of a cloud needs credentials, except those of health, reflection and Authenticate', async () => {
  await using cloud = await startCloud();
  const { open, closed } = await openMethods(cloud.url);
  expect(open).toEqual(expected);
  expect(closed).toBeGreaterThan(200);
});

test('D50 every method of a machine-server with keys needs credentials, except those of health, reflection and Authenticate', async () => {
  await using machine = await startMachine({
    auth: { handlers: [{ type: 'api-key', config: { id: 'the key' } }] },
  });
  const { open, closed } = await openMethods(machine.url);
  // It looks at the credentials in the request, and finds none.
  expect(open).toEqual(expected.filter((method) => method !== authenticate));
  expect(closed).toBeGreaterThan(200);
});
