/** What access needs from other features: sessions of people, shared locations, secrets of parts. */

import type { DeletedPlace } from './deleted-secrets.ts';

/** A person who is signed in. */
export interface SignedIn {
  readonly personId: string;
  readonly sessionId: string;
  readonly email: string;
}

/** The sessions of people; implemented by the identity feature. */
export interface SessionPort {
  /** The person whose valid session of this kind a token names; undefined if it has ended. */
  personOf(id: string, kind: 'browser' | 'cli'): Promise<SignedIn | undefined>;
  /** The person who has this session, if it is valid. @param sessionId is no secret */
  personWith(sessionId: string): Promise<SignedIn | undefined>;
}

/** A location that one organization shares with another. */
export interface SharedLocation {
  /** The organization that owns the location. */
  readonly organizationId: string;
  readonly locationId: string;
}

/** Sharing; implemented in memory by the accounts feature. */
export interface SharesPort {
  /** The locations of other organizations that are shared with this one. */
  sharesTo(organizationId: string): readonly SharedLocation[];
}

/** Checks of part secrets; implemented by the machines feature. */
export interface PartSecrets {
  /** The part's epoch if the secret is one of its valid ones. */
  check(partId: string, secret: string): Promise<number | undefined>;
  /** Whether a token of this epoch is still valid. */
  isCurrent(partId: string, epoch: number): Promise<boolean>;
  /**
   * What was deleted, if this was a valid secret of a part, or of an API key that ended with the deletion; as far as that is remembered.
   */
  deletedPlace(id: string, secret: string): DeletedPlace | undefined;
}
