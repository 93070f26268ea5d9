/** People: invitations, sessions and browser sign-in. */
import type { ClockAndLog } from '@platform/base';
import type { Fleet, FleetDeps } from './compose-fleet.ts';
import { type BrowserSession, createBrowserSession } from './edge/browser-session.ts';
import { createKindOfPage } from './edge/own-pages.ts';
import { createSignIn, type SignIn } from './edge/sign-in/sign-in.ts';
import { createUnknownAddress, type UnknownAddress } from './edge/unknown-address.ts';
import { createIdentity, type Identity } from './identity/feature.ts';
import type { Stores } from './open-stores.ts';
import type { Mail } from './outbox/email/mail.ts';
import type { Settings } from './settings.ts';

export interface PeopleDeps extends Pick<Stores, 'db' | 'instanceKey'>, ClockAndLog, Pick<FleetDeps, 'limits' | 'url'> {
  readonly fleet: Pick<Fleet, 'tree' | 'access' | 'sessions' | 'guesses' | 'authenticator'>;
  /** Absent if no mail server is configured. */
  readonly mail: Mail | undefined;
  readonly settings: Pick<Settings, 'identity' | 'command'>;
  /** Scheme under which the cloud serves. */
  readonly scheme: 'http' | 'https';
}

export interface People extends AsyncDisposable {
  readonly identity: Identity;
  readonly signIn: SignIn;
  readonly browserSession: BrowserSession;
  readonly unknownAddress: UnknownAddress;
}

export async function composePeople(deps: PeopleDeps): Promise<People> {
  const { db, instanceKey, mail, settings, limits, scheme, clock, log, url } = deps;
  const { tree, access, sessions, guesses, authenticator } = deps.fleet;
  await using unwind = new AsyncDisposableStack();

  const publicUrl = (): string => settings.identity.publicUrl ?? url();
  const unknownAddress = createUnknownAddress(log.child('edge'), settings.identity.publicUrl);
  const browserSession = createBrowserSession({
    ...{ instanceKey, publicUrl, unknownAddress },
    kindOfPage: createKindOfPage(scheme, publicUrl),
  });
  const identity = unwind.use(
    createIdentity({
      db,
      clock,
      log: log.child('identity'),
      sessions,
      guesses,
      access,
      tree,
      mail,
      publicUrl,
      invitationMailsPerDay: (organizationId) => limits.limitOf(organizationId, 'invitation-mails-per-day'),
      forget: () => authenticator.forget(),
      openIdSettings: settings.identity.openId,
    }),
  );
  const signIn = createSignIn({
    identity,
    instanceKey,
    browserSession,
    log: log.child('edge'),
    command: settings.command,
    principalOfToken: (token) => authenticator.principalOfToken(token),
  });

  const composed = unwind.move();
  return { identity, signIn, browserSession, unknownAddress, [Symbol.asyncDispose]: () => composed.disposeAsync() };
}
