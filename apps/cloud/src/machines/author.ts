/** Who saved a version, in the shape of the Actor message. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { AuthenticationType, type AuthenticatorInfoSchema } from '@platform/proto/platform/app/v1/app';
import type { Caller, OwnActor } from '../access/audit.ts';

export interface Author {
  /** `person`, `api-key`, `part`, `admin` or `platform`. */
  readonly kind: string;
  readonly id: string;
  /** E-mail address or name at the time; may be empty. */
  readonly name: string;
}

export function authorOf(by: Caller | OwnActor): Author {
  if ('kind' in by) return { kind: by.kind, id: '', name: by.name };
  const { principal } = by;
  if (principal.kind === 'key') return { kind: 'api-key', id: principal.keyId, name: principal.keyName ?? '' };
  if (principal.kind === 'person') return { kind: 'person', id: principal.personId, name: principal.email };
  return { kind: 'part', id: principal.partId, name: '' };
}

/** For sentences: `person ada@example.org`. */
export function authorText({ kind, id, name }: Author): string {
  return `${kind} ${name === '' ? id : name}`;
}

/** As the public history tells it. */
export function authenticatorInfo(author: Author): MessageInitShape<typeof AuthenticatorInfoSchema> {
  const types: Readonly<Record<string, AuthenticationType>> = {
    person: AuthenticationType.WEB_OAUTH,
    'api-key': AuthenticationType.API_KEY,
    part: AuthenticationType.ROBOT_PART_SECRET,
  };
  const type = types[author.kind] ?? AuthenticationType.UNSPECIFIED;
  return { type, value: author.kind === 'api-key' || author.name === '' ? author.id || author.name : author.name };
}
