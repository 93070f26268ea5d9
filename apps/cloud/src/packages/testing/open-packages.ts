/**
 * Packages with real stores and a real port, for tests; operations are called as from the API. Access is that of
 * access/testing/open-fleet.ts: acme and umbrella with their machines.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import { asPlatformError, silentLog } from '@platform/base';
import {
  CreatePackageRequestSchema,
  type CreatePackageResponse,
  type PackageInfoSchema,
  PackageService,
  PackageType,
} from '@platform/proto/platform/app/packages/v1/packages';
import { temporaryDirectory } from '@platform/testkit';
import { onTestFinished } from 'vitest';
import type { Principal } from '../../access/principal.ts';
import { callOf } from '../../access/testing/call-of.ts';
import { type Fleet, on, openFleet } from '../../access/testing/open-fleet.ts';
import { type BlobStore, openBlobStore } from '../../blobs/blob-store.ts';
import { principalOfRequest } from '../../edge/principal-of-request.ts';
import { createPackages, type Packages } from '../feature.ts';
import type { PackagesDeps } from '../packages-deps.ts';
import { createServePackages, type ServePackages } from '../serve-packages.ts';

export const service: typeof PackageService.method = PackageService.method;
type Info = MessageInitShape<typeof PackageInfoSchema>;

export interface TestPackages extends Fleet {
  readonly packages: Packages;
  readonly served: ServePackages;
  readonly blobs: BlobStore;
  readonly blobDirectory: string;
  /** Owners of acme and of umbrella, with existing keys. */
  readonly owner: Principal;
  readonly stranger: Principal;
  upload(info?: Info, content?: string | readonly Uint8Array[], by?: Principal): Promise<CreatePackageResponse>;
  ask<M extends DescMethodUnary>(
    principal: Principal,
    method: M,
    request: MessageInitShape<M['input']>,
  ): Promise<MessageShape<M['output']>>;
  /** Sends GET for an address of this cloud or a path on it; refusals have status 400 with their code. */
  get(address: string, headers?: Record<string, string>, method?: string): Promise<Response>;
}

export const part: Principal = { kind: 'part', partId: 'press-main' };

export function archive(content: string): Buffer {
  return gzipSync(content);
}

export async function openPackages(overrides: Partial<PackagesDeps> = {}): Promise<TestPackages> {
  const fleet = await openFleet();
  const { db, clock, authenticator } = fleet;
  const directory = await temporaryDirectory();
  const blobs = await openBlobStore({ directory: directory.file('blobs'), clock });
  const organizationNamed = (name: string): string | undefined =>
    name === 'acme-tools' ? 'acme' : ['acme', 'umbrella'].find((id) => id === name);
  const served = createServePackages({ db, organizationNamed });
  const packages = createPackages({
    ...{ db, blobs, clock, access: fleet.access, instanceKey: fleet.instanceKey, served, organizationNamed },
    namespaceOf: (organizationId) => (organizationId === 'acme' ? 'acme-tools' : ''),
    requireSpace: async () => {},
    baseUrl: () => 'http://cloud.test',
    standing: authenticator.standing,
    principalOf: (request) =>
      principalOfRequest(
        { authenticator, signIn: { principalOf: async () => undefined, guesserOf: () => '127.0.0.1:1' } },
        request,
      ),
    log: silentLog,
    ...overrides,
  });
  const server = createServer((request, response) => {
    packages.download(request, response, new URL(request.url ?? '', 'http://cloud.test')).then(
      (isHandled) => {
        if (!isHandled) response.writeHead(501).end();
      },
      (caught: unknown) => response.writeHead(400).end(asPlatformError(caught).code),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await directory[Symbol.asyncDispose]();
  });
  const owner = await fleet.principalOf((await fleet.keyWith(on.organization('owner'))).token);
  const stranger = await fleet.principalOf((await fleet.keyWith(on.organization('owner', 'umbrella'))).token);
  return {
    ...fleet,
    ...{ packages, served, blobs, blobDirectory: directory.file('blobs'), owner, stranger },
    async upload(info = {}, content = 'contents', by = owner) {
      const chunks = typeof content === 'string' ? [archive(content)] : content;
      const whole = { organizationId: 'acme', name: 'tool', version: '1.0.0', type: PackageType.MODULE, ...info };
      const messages = async function* () {
        yield create(CreatePackageRequestSchema, { package: { case: 'info', value: whole as Info } } as object);
        for (const value of chunks) yield create(CreatePackageRequestSchema, { package: { case: 'contents', value } });
      };
      const answer = await packages.handlers.createPackage?.(messages(), callOf(by));
      return create(service.createPackage.output, answer);
    },
    async ask(principal, method, request) {
      const handler = packages.handlers[method.localName as 'getPackage'] as
        | ((request: unknown, call: unknown) => Promise<object>)
        | undefined;
      if (handler === undefined) throw new Error(`${method.name} has no handler`);
      const answer = await handler(create(method.input, request), callOf(principal));
      return create(method.output, answer as never) as never;
    },
    get: (address, headers = {}, method = 'GET') =>
      fetch(`http://127.0.0.1:${port}${address.replace('http://cloud.test', '')}`, { headers, method }),
  };
}
