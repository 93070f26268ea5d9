/** What access asks of its neighbours: sessions of people, shared locations, secrets of parts. */

/** A person who is signed in. */
export interface SignedIn {
  readonly personId: string;
  readonly sessionId: string;
  readonly email: string;
}

/** The sessions of people; the identity feature answers. */
export interface SessionPort {
  /** The person behind a living session, as a token of kind `session` names it; undefined when it ended. */
  personOf(id: string, epoch: number): Promise<SignedIn | undefined>;
}

/** A location that an organization opened to another one. */
export interface SharedLocation {
  /** The organization that owns the location. */
  readonly organizationId: string;
  readonly locationId: string;
}

/** Sharing; the accounts feature answers, from memory. */
export interface SharesPort {
  /** The locations of other organizations that are shared with this one. */
  sharesTo(organizationId: string): readonly SharedLocation[];
}

/** What machines know of the secrets of parts; the machines feature answers. */
export interface PartSecrets {
  /** The epoch of the part if the secret is one of its living ones. */
  check(partId: string, secret: string): Promise<number | undefined>;
  /** Whether a token of this epoch still stands. */
  isCurrent(partId: string, epoch: number): Promise<boolean>;
}
