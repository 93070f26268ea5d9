/** One real cloud with callers of every kind, whose calls are recorded. */
import { type AppClient, createViamClient } from '@viamrobotics/sdk';
import { expect } from 'vitest';
import { type Answer, Peer } from '../clients/grpc-peer.ts';
import { type CloudProcess, machineServer, startCloud } from '../start-cloud.ts';
import { codeOf, Watch } from './watch.ts';
import { WebSession } from './web-session.ts';

export const Code = {
  invalidArgument: 3,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unimplemented: 12,
  unauthenticated: 16,
} as const;

export interface Caller {
  /** The public package. */
  readonly app: AppClient;
  /** Through @grpc/grpc-js; also for operations without a call in the package. */
  ask(operation: string, request?: object): Promise<Answer>;
  readonly peer: Peer;
}

export interface Person extends Caller {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  /** Signed in. */
  readonly browser: WebSession;
}

export interface World extends AsyncDisposable {
  readonly cloud: CloudProcess;
  readonly watch: Watch;
  /** The API key from the first start, which owns the first organization. */
  readonly owner: Caller;
  /** The first person; owner of the first organization. */
  readonly ada: Person;
  readonly stranger: Caller;
  key(keyId: string, key: string): Promise<Caller>;
  part(partId: string, secret: string): Promise<Peer>;
  /** Accepts an invitation of the organization as a new person. */
  join(organizationId: string, email: string): Promise<Person>;
  /** JSON from a route, requested with a person's token. */
  json(person: Person, path: string, body?: object): Promise<Record<string, unknown>>;
}

/** Ids that the store never issued, in the format of real ones. */
export const unknownId = 'a0b1c2d3-e4f5-4a6b-8c7d-9e0f1a2b3c4d';

export async function openWorld(): Promise<World> {
  const cloud = await startCloud({ PLATFORM_MACHINE_SERVER: machineServer });
  const watch = new Watch();
  const peers = new DisposableStack();

  const callerOf = async (credentials: Parameters<typeof createViamClient>[0]['credentials']): Promise<Caller> => {
    const { appClient } = await createViamClient({ serviceHost: cloud.url, credentials });
    const peer = peers.use(new Peer(cloud.target));
    if (credentials.type === 'access-token') peer.withToken(credentials.payload);
    else await peer.signIn(credentials.authEntity, credentials.type, credentials.payload);
    return { app: watch.sdk(appClient), peer, ask: (operation, request) => watch.ask(peer, operation, request) };
  };
  const personOf = async (browser: WebSession): Promise<Person> => {
    const token = await browser.commandLineToken();
    const caller = await callerOf({ type: 'access-token', payload: token });
    const { id, email } = await json({ token }, '/api/whoami');
    return { ...caller, token, browser, id: String(id), email: String(email) };
  };
  const json = async ({ token }: Pick<Person, 'token'>, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(cloud.url + path, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Answer;
  };
  const key = (keyId: string, payload: string): Promise<Caller> =>
    callerOf({ type: 'api-key', authEntity: keyId, payload });

  const owner = await key(cloud.keyId, cloud.key);
  const first = new WebSession(cloud.url);
  await first.signIn(cloud.signInLink);
  await first.open('/account');
  await first.submit('/account/email', { email: 'Ada@Example.com' });
  const ada = await personOf(first);

  const nobody = peers.use(new Peer(cloud.target));
  const stranger: Caller = {
    ...owner,
    peer: nobody,
    ask: (operation, request) => watch.ask(nobody, operation, request),
  };
  return {
    cloud,
    watch,
    owner,
    ada,
    stranger,
    key,
    json,
    part: (partId, secret) => peers.use(new Peer(cloud.target)).signIn(partId, 'robot-secret', secret),
    async join(organizationId, email) {
      const { link } = await json(ada, '/api/invitations/link', { organizationId, email });
      const { pathname, search } = new URL(String(link));
      const browser = new WebSession(cloud.url);
      await browser.open(pathname + search);
      await browser.submit('/invitations/accept', { name: email, password: 'correct horse battery' });
      return personOf(browser);
    },
    async [Symbol.asyncDispose]() {
      peers.dispose();
      await cloud[Symbol.asyncDispose]();
    },
  };
}

/** Expects the call to fail with this code and a message that contains the words. */
export async function expectRefused(call: Promise<unknown>, code: number, words: RegExp): Promise<void> {
  const caught: unknown = await call.then(
    (answer) => {
      throw new Error(`expected a refusal, found the answer ${String(answer)}`);
    },
    (reason: unknown) => reason,
  );
  expect(String(caught)).toMatch(words);
  expect(codeOf(caught)).toBe(code);
}

const startedMs = Date.now();

/** Expects a time from this run, in the package's type. */
export function expectRecent(time: { toDate(): Date } | undefined): void {
  const ms = time?.toDate().getTime() ?? 0;
  expect(ms).toBeGreaterThan(startedMs - 120_000);
  expect(ms).toBeLessThanOrEqual(Date.now() + 1_000);
}

/** The same for @grpc/proto-loader's type. */
export function expectRecentSeconds(time: unknown): void {
  const seconds = Number(Reflect.get(Object(time), 'seconds'));
  expectRecent({ toDate: () => new Date(seconds * 1_000 + 999) });
}
