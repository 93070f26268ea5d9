/** An installation where people sign in over a real port, for tests: the RPCs of invitations and members, and every page. */
import { createLog, type Log } from '@platform/base';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { type Client, connect } from '@platform/rpc/client';
import { createRpcServer, serve } from '@platform/rpc/server';
import { FakeClock } from '@platform/testkit';
import { onTestFinished } from 'vitest';
import { authBinding } from '../../access/auth-rpc.ts';
import { createAuthenticator } from '../../access/authenticate.ts';
import { createAccess } from '../../access/authorize.ts';
import { addGrant } from '../../access/grants.ts';
import { createGuessLimit } from '../../access/guess-limit.ts';
import { createKey } from '../../access/keys.ts';
import type { Grant, Principal } from '../../access/principal.ts';
import { type FirstAccount, openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import { createBrowserSession } from '../../edge/browser-session.ts';
import { createKindOfPage } from '../../edge/own-pages.ts';
import { principalOfRequest } from '../../edge/principal-of-request.ts';
import { createRoutes } from '../../edge/routes.ts';
import { createSignIn } from '../../edge/sign-in/sign-in.ts';
import { createUnknownAddress } from '../../edge/unknown-address.ts';
import { createEmailChannel } from '../../outbox/email/email-channel.ts';
import { createMail } from '../../outbox/email/mail.ts';
import { createOutbox, type Outbox } from '../../outbox/feature.ts';
import { createIdentity, createOwnerLink, type Identity } from '../feature.ts';
import { createPerson } from '../invitations/accept-invitation.ts';
import { hashPassword } from '../sign-in/hash-password.ts';
import type { OpenIdSettings } from '../sign-in/open-id.ts';
import { createSessions } from '../sign-in/sessions.ts';
import { Browser } from './browser.ts';

export interface People extends FirstAccount {
  readonly url: string;
  readonly clock: FakeClock;
  readonly identity: Identity;
  readonly outbox: Outbox;
  /** All log output, as text. */
  readonly logged: readonly string[];
  /** Creates a link for the first owner, as printed by each start. */
  ownerLink(): Promise<string>;
  browser(): Browser;
  /** AppService with a bearer token. */
  app(token: string): Client<typeof AppService>;
  /** Creates a key with roles. Returns its access token. */
  keyWith(...grants: Grant[]): Promise<string>;
  /** Creates a person with a password and roles. */
  personWith(email: string, password: string, ...grants: Grant[]): Promise<string>;
  /** Sends GET or POST of JSON with a bearer token. */
  json(path: string, token?: string, body?: unknown): Promise<{ status: number; body: unknown }>;
}

export async function startPeople(
  options: {
    smtpUrl?: string;
    openId?: OpenIdSettings;
    first?: FirstAccount;
    scheme?: 'https';
    invitationMailsPerDay?: number;
  } = {},
): Promise<People> {
  const first = options.first ?? (await openFirstAccount());
  const { db, instanceKey, tree } = first;
  const clock = new FakeClock();
  const logged: string[] = [];
  const log: Log = createLog((level, logger, message, fields) => {
    logged.push(JSON.stringify({ level, logger, message, fields }));
  });
  const access = createAccess(tree, { locationOfMachine: () => undefined, machineOfPart: () => undefined });
  const guesses = createGuessLimit(clock);
  const sessions = createSessions({ db, instanceKey, clock });
  const authenticator = createAuthenticator({
    rows: first.rows,
    requirePlaces: async () => {},
    db,
    instanceKey,
    partSecrets: { check: async () => undefined, isCurrent: async () => false, deletedPlace: () => undefined },
    sessions,
    shares: tree,
    guesses,
    clock,
    keyUsed: () => {},
  });
  const settings = options.smtpUrl === undefined ? undefined : { smtpUrl: options.smtpUrl, from: 'cloud@example.com' };
  let url = '';
  const outbox = createOutbox({
    db,
    instanceKey,
    clock,
    log,
    // Only with a mail server: tests advance the clock by months, and the loop of a channel looks for messages every second of them.
    channels: settings
      ? {
          email: createEmailChannel({
            ...{ db, settings, instanceKey, clock },
            branding: async () => ({ organizationName: '', logoUrl: '', supportEmail: '' }),
            zoneOf: async () => 'UTC',
            publicUrl: () => url,
            keep: () => {},
            async invoicePdf() {
              throw new Error('expected no mail about an invoice');
            },
          }),
        }
      : {},
    ownersOf: async () => [],
    organizationExists: (id) => tree.organization(id) !== undefined,
    appendMachineLog: async () => {},
  });
  const mail = settings && createMail({ outbox, instanceKey, clock });
  const publicUrl = (): string => (options.scheme === 'https' ? url.replace('http:', 'https:') : url);
  const identity = createIdentity({
    db,
    clock,
    log,
    sessions,
    guesses,
    access,
    tree,
    mail,
    publicUrl,
    invitationMailsPerDay: () => options.invitationMailsPerDay ?? 50,
    forget: () => authenticator.forget(),
    openIdSettings: options.openId,
  });
  const unknownAddress = createUnknownAddress(log, undefined);
  const signIn = createSignIn({
    identity,
    instanceKey,
    browserSession: createBrowserSession({
      ...{ instanceKey, publicUrl, unknownAddress },
      kindOfPage: createKindOfPage(options.scheme ?? 'http', publicUrl),
    }),
    log,
    command: 'node tools/run.js',
    principalOfToken: (token) => authenticator.principalOfToken(token),
  });
  const server = createRpcServer<Principal>({
    services: [authBinding(authenticator, ({ peerAddress }) => peerAddress), serve(AppService, identity.appHandlers)],
    authenticate: (call) => authenticator.principalOf(call.metadata),
    open: ['/proto.rpc.v1.AuthService/Authenticate'],
    fallback: createRoutes({
      signIn,
      access: { ownsAll: () => true },
      webUi: undefined,
      command: 'node tools/run.js',
      admitStranger: () => {},
      principalOf: (request) => principalOfRequest({ authenticator, signIn }, request),
      log,
      loopbackOnly: true,
      namedHosts: [],
      unknownAddress,
      publicUrl: undefined,
      scheme: options.scheme ?? 'http',
      partConfig: async () => ({}),
      status: async () => ({}),
      openApi: async () => ({}),
      metrics: async () => {},
      routes: [],
      readRoutes: [],
    }),
    log,
  });
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${port}`;
  outbox.start();
  const closing = new AsyncDisposableStack();
  closing.use(server);
  closing.use(outbox);
  onTestFinished(() => closing.disposeAsync());

  const tokenOfKey = async (keyId: string, key: string): Promise<string> =>
    authenticator.signIn({ entity: keyId, type: 'api-key', payload: key }, '127.0.0.1:1');
  return {
    ...first,
    url,
    clock,
    identity,
    outbox,
    logged,
    ownerLink: async () => `/sign-in?token=${await createOwnerLink({ db, clock })}`,
    browser: () => new Browser(url),
    app(token) {
      const link = connect({ baseUrl: url, credentials: { entity: '', type: 'access-token', payload: token } });
      closing.use(link);
      return link.client(AppService);
    },
    async keyWith(...grants) {
      const { id, key } = await createKey(db, instanceKey, 'key', grants, clock.now());
      return tokenOfKey(id, key);
    },
    async personWith(email, password, ...grants) {
      const hash = await hashPassword(password);
      return db.transaction().execute(async (trx) => {
        const { id } = await createPerson({ clock }, trx, { email, name: email, emailVerified: false });
        await trx.insertInto('passwords').values({ person_id: id, hash, changed_ms: 1 }).execute();
        for (const grant of grants) await addGrant(trx, { type: 'person', id }, grant);
        return id;
      });
    },
    async json(path, token, body) {
      const response = await fetch(url + path, {
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
      });
      return { status: response.status, body: await response.json() };
    },
  };
}
