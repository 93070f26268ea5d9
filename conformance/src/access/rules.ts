/**
 * An independent implementation of docs/specs/access.md: who has which roles, and sees and reads what. It uses none of the cloud's code.
 */
import type { Row } from './table.ts';

export type Role = 'owner' | 'operator';

/** Places where roles can be granted, and parts. */
export interface Place {
  readonly kind: 'organization' | 'location' | 'machine' | 'part';
  /** Short name in the test world. */
  readonly label: string;
  readonly id: string;
  readonly name: string;
  /** Absent for organizations. */
  readonly parent?: Place;
}

export interface Grant {
  readonly role: Role;
  readonly on: Place;
}

export interface Caller {
  readonly label: string;
  /** `none`: without a token, or with an invalid one. */
  readonly kind: 'person' | 'key' | 'part' | 'none';
  readonly id: string;
  readonly token: string | undefined;
  /** For a person: the session as a page of the cloud sends it. */
  readonly session?: Readonly<Record<string, string>>;
  /** For a key: the secret used to get the token. */
  readonly secret?: string;
  readonly grants: readonly Grant[];
  /** The part whose credentials these are. */
  readonly part?: Place;
}

export interface Fragment {
  readonly id: string;
  readonly organization: Place;
  readonly visibility: 'private' | 'public' | 'unlisted';
}

export interface Person {
  readonly id: string;
  readonly email: string;
  readonly memberOf: readonly Place[];
}

/** The subject of a request. With only `label` and ids, it does not exist, or is of another kind. */
export interface Subject {
  readonly label: string;
  readonly id: string;
  /** A second id in the request, such as the part's name beside the location's id. */
  readonly second?: string;
  /** The organization that the request also names. */
  readonly organizationId?: string;
  /** The kind of resource that the request claims, if it states one. */
  readonly saidKind?: Place['kind'];
  /** The resources; the caller must have access to all of them. */
  readonly places?: readonly Place[];
  readonly fragment?: Fragment;
  readonly person?: Person;
  /** The organization in the request is another one: callers who may see the resource get an error that says so. */
  readonly mismatched?: boolean;
  /** A key: the resources of its roles are in `places`. */
  readonly isKey?: boolean;
  /** Something stored by this organization, or sent by this part. */
  readonly keptBy?: Place;
  /** An invitation in this organization: the resources of its authorizations are in `places`. */
  readonly invitedTo?: Place;
}

/** `IN`: success, or an error about the content of the request. */
export type Outcome =
  | 'IN'
  | 'OK'
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'PERMISSION_DENIED'
  | 'UNAUTHENTICATED'
  | 'UNIMPLEMENTED';

export interface Share {
  readonly location: Place;
  readonly organization: Place;
}

/** The words of the column "on". */
const keptThings: ReadonlySet<string> = new Set([
  'delivery',
  'saved query',
  'binary data',
  'sequence',
  'dataset',
  'package',
  'module',
]);

type Verdict = 'allowed' | 'denied' | 'unseen';

export class Rules {
  readonly #shares: readonly Share[];

  constructor(shares: readonly Share[]) {
    this.#shares = shares;
  }

  /**
   * Whether the caller has the role on the place or above it. Sharing makes operators of callers with a role on the whole other
   * organization.
   */
  holds(caller: Caller, role: Role, place: Place): boolean {
    const chain = chainOf(place);
    const own = caller.grants.some((grant) => chain.includes(grant.on) && (role === 'operator' || grant.role === role));
    return own || (role === 'operator' && this.#sharedWith(caller).some((location) => chain.includes(location)));
  }

  /** Whether the caller has a role on the place, above it or below it. Above a shared location, only the organization is seen. */
  sees(caller: Caller, place: Place): boolean {
    if (caller.part !== undefined) return caller.part === place;
    if (this.holds(caller, 'operator', place)) return true;
    if (caller.grants.some(({ on }) => chainOf(on).includes(place))) return true;
    return this.#sharedWith(caller).some((location) => organizationOf(location) === place);
  }

  sharedWith(location: Place, organization: Place): boolean {
    return this.#shares.some((share) => share.location === location && share.organization === organization);
  }

  ownsAnythingIn(caller: Caller, organization: Place): boolean {
    return caller.grants.some((grant) => grant.role === 'owner' && chainOf(grant.on).includes(organization));
  }

  reads(caller: Caller, { organization, visibility }: Fragment): boolean {
    if (caller.kind !== 'key' && caller.kind !== 'person') return false;
    if (visibility !== 'private') return true;
    return this.holds(caller, 'operator', organization) || this.ownsAnythingIn(caller, organization);
  }

  knows(caller: Caller, person: Person): boolean {
    if (caller.kind === 'person' && caller.id === person.id) return true;
    return person.memberOf.some((organization) => this.holds(caller, 'owner', organization));
  }

  /** Whether the caller has its own role in the organization, or is one of its parts. */
  isMember(caller: Caller, organization: Place): boolean {
    if (caller.part !== undefined) return organizationOf(caller.part) === organization;
    return caller.grants.some(({ on }) => organizationOf(on) === organization);
  }

  /** The allowed answers to a caller's operation on a subject. */
  expected(row: Row, caller: Caller, subject: Subject): readonly Outcome[] {
    if (row.needs === 'open') return ['IN'];
    if (caller.kind === 'none') return ['UNAUTHENTICATED'];
    if (row.needs === 'nobody') return ['UNIMPLEMENTED'];
    if (row.on === '-') return this.#withoutTarget(row, caller);
    if (row.needs === 'person who operates it' && caller.kind !== 'person') return ['PERMISSION_DENIED'];
    if (row.on === 'a person')
      return subject.person !== undefined && this.knows(caller, subject.person) ? ['IN'] : ['NOT_FOUND'];
    if (row.on.endsWith('fragment')) return this.#ofFragment(row, caller, subject.fragment);
    if (keptThings.has(row.on)) return this.#ofKeptThing(row, caller, subject.keptBy);
    if (subject.places === undefined) return ['NOT_FOUND'];
    if (subject.isKey) return this.#ofKey(caller, subject.places);
    if (subject.invitedTo !== undefined) return this.#ofInvitation(caller, subject.invitedTo, subject.places);
    // Found by its location: if the location is not visible, nothing is found.
    if (row.on === 'the part by that name in the location' && caller.kind === 'part') return ['NOT_FOUND'];
    const verdicts = subject.places.map((place) => this.#verdict(row.needs, caller, place));
    const allowed = verdicts.every((one) => one === 'allowed');
    if (allowed) return subject.mismatched ? ['INVALID_ARGUMENT', 'NOT_FOUND'] : ['IN'];
    const refusals: Outcome[] = subject.mismatched ? ['NOT_FOUND'] : [];
    if (verdicts.includes('unseen')) refusals.push('NOT_FOUND');
    if (verdicts.includes('denied')) refusals.push('PERMISSION_DENIED');
    return refusals;
  }

  #withoutTarget(row: Row, caller: Caller): readonly Outcome[] {
    switch (row.needs) {
      case 'signed in':
        // Parts act only for themselves: they are refused, or the answer contains nothing for them.
        return caller.kind === 'part' ? ['OK', 'PERMISSION_DENIED'] : ['IN'];
      case 'person':
        return caller.kind === 'person' ? ['IN'] : ['PERMISSION_DENIED'];
      case 'person, or a key that owns an organization': {
        const owns = caller.grants.some(({ role, on }) => role === 'owner' && on.kind === 'organization');
        return caller.kind === 'person' || (caller.kind === 'key' && owns) ? ['IN'] : ['PERMISSION_DENIED'];
      }
      default:
        throw new Error(
          `docs/specs/access.md: ${row.operation} needs "${row.needs}" on nothing, which is not understood`,
        );
    }
  }

  #ofFragment(row: Row, caller: Caller, fragment: Fragment | undefined): readonly Outcome[] {
    if (fragment === undefined || !this.reads(caller, fragment)) return ['NOT_FOUND'];
    if (row.needs === 'reads the fragment') return ['IN'];
    if (row.needs === 'owner')
      return this.holds(caller, 'owner', fragment.organization) ? ['IN'] : ['PERMISSION_DENIED'];
    throw new Error(
      `docs/specs/access.md: ${row.operation} needs "${row.needs}" of a fragment, which is not understood`,
    );
  }

  #ofKeptThing(row: Row, caller: Caller, keeper: Place | undefined): readonly Outcome[] {
    const finds = (place: Place): boolean =>
      row.on === 'package' || row.on === 'module'
        ? this.isMember(caller, place)
        : this.holds(caller, 'operator', place);
    if (keeper === undefined || !finds(keeper)) return ['NOT_FOUND'];
    if (row.needs === 'member') return ['IN'];
    if (row.needs === 'operator') return ['IN'];
    if (row.needs === 'owner') return this.holds(caller, 'owner', keeper) ? ['IN'] : ['PERMISSION_DENIED'];
    throw new Error(
      `docs/specs/access.md: ${row.operation} needs "${row.needs}" of a ${row.on}, which is not understood`,
    );
  }

  /** Owners of all its resources may manage a key; owners or operators of some of them may learn that it exists. */
  #ofKey(caller: Caller, places: readonly Place[]): readonly Outcome[] {
    if (places.every((place) => this.holds(caller, 'owner', place))) return ['IN'];
    return places.some((place) => this.sees(caller, place)) ? ['NOT_FOUND', 'PERMISSION_DENIED'] : ['NOT_FOUND'];
  }

  /**
   * Owners of a resource that the invitation grants may change that part. For all other callers the answer depends only on the
   * organization, whether or not the invitation exists.
   */
  #ofInvitation(caller: Caller, organization: Place, places: readonly Place[]): readonly Outcome[] {
    if (!this.sees(caller, organization)) return ['NOT_FOUND'];
    if (places.length === 0) return this.holds(caller, 'owner', organization) ? ['NOT_FOUND'] : ['PERMISSION_DENIED'];
    return places.some((place) => this.holds(caller, 'owner', place)) ? ['IN'] : ['PERMISSION_DENIED'];
  }

  #verdict(needs: string, caller: Caller, place: Place): Verdict {
    const itself = caller.part === place;
    const allowed = ((): boolean => {
      switch (needs) {
        case 'owner':
        case 'operator':
          return this.holds(caller, needs, place);
        case 'operator, or sees the organization':
          return place.kind === 'organization' ? this.sees(caller, place) : this.holds(caller, 'operator', place);
        case 'person who operates it':
          return caller.kind === 'person' && this.holds(caller, 'operator', place);
        case 'owner or itself':
          return itself || this.holds(caller, 'owner', place);
        case 'operator or itself':
          return itself || this.holds(caller, 'operator', place);
        case 'owner, itself or a key of only its machine':
          return itself || this.holds(caller, 'owner', place) || this.#isKeyOfOnly(caller, place);
        case 'member':
          return this.isMember(caller, place);
        case 'sees':
          return this.sees(caller, place);
        case 'owner of anything in it':
          return this.ownsAnythingIn(caller, place);
        default:
          throw new Error(`docs/specs/access.md: "${needs}" is not understood`);
      }
    })();
    if (allowed) return 'allowed';
    return this.sees(caller, place) ? 'denied' : 'unseen';
  }

  #isKeyOfOnly({ kind, grants }: Caller, part: Place): boolean {
    return kind === 'key' && grants.length > 0 && grants.every(({ on }) => on === part.parent);
  }

  #sharedWith(caller: Caller): Place[] {
    return this.#shares
      .filter(({ organization }) => caller.grants.some((grant) => grant.on === organization))
      .map(({ location }) => location);
  }
}

/** The place and all above it. */
export function chainOf(place: Place): readonly Place[] {
  return place.parent === undefined ? [place] : [place, ...chainOf(place.parent)];
}

export function organizationOf(place: Place): Place {
  return place.parent === undefined ? place : organizationOf(place.parent);
}
