/** The author of a version, in the shape of the Actor message. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { AuthenticationType, type AuthenticatorInfoSchema } from '@platform/proto/platform/app/v1/app';
import type { Author } from '../access/audit.ts';

/** For use in sentences: `person ada@example.org`. */
export function authorText({ kind, id, name }: Author): string {
  return `${kind} ${name === '' ? id : name}`;
}

/** The author in the format of the public history. */
export function authenticatorInfo(author: Author): MessageInitShape<typeof AuthenticatorInfoSchema> {
  const types: Readonly<Record<string, AuthenticationType>> = {
    person: AuthenticationType.WEB_OAUTH,
    'api-key': AuthenticationType.API_KEY,
    part: AuthenticationType.ROBOT_PART_SECRET,
  };
  const type = types[author.kind] ?? AuthenticationType.UNSPECIFIED;
  return { type, value: author.kind === 'api-key' || author.name === '' ? author.id || author.name : author.name };
}
