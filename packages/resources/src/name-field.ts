/** Finds where the requests of a method name the resource, and returns functions that read and replace the name. */
import type { DescField, DescMessage, Message } from '@bufbuild/protobuf';
import type { ResourceDescriptor } from './resource-descriptor.ts';

export interface NameField {
  /** The name in a request; empty if it has none. */
  read(request: Message): string;
  /** A copy with another name. A stream message that has no field for a name passes unchanged. */
  withName<M extends object>(request: M, name: string): M;
  /** The field numbers that lead to the name; empty if there is none. */
  readonly path: readonly number[];
}

/** @param input the request type of the method. */
export function nameFieldOf(
  { nameFields = [] }: Pick<ResourceDescriptor, 'nameFields'>,
  input: DescMessage,
): NameField {
  const path =
    nameFields.map((each) => fieldsOf(input, each)).find((found) => found !== undefined) ?? fieldsOf(input, 'name');
  return {
    read(request) {
      let at: unknown = request;
      for (const field of path ?? []) at = fieldOf(at, field);
      return typeof at === 'string' ? at : '';
    },
    path: (path ?? []).map(({ number }) => number),
    withName: (request, name) => (path === undefined ? request : (replaced(request, path, name) as typeof request)),
  };
}

/** The fields along the path; undefined if the path does not exist or does not end in a scalar. */
function fieldsOf(message: DescMessage, path: string): readonly DescField[] | undefined {
  const fields: DescField[] = [];
  let at: DescMessage | undefined = message;
  for (const name of path.split('.')) {
    const field: DescField | undefined = at?.fields.find((each) => each.name === name);
    if (field === undefined) return undefined;
    fields.push(field);
    at = field.message;
  }
  return fields.at(-1)?.fieldKind === 'scalar' ? fields : undefined;
}

interface OneofValue {
  readonly case?: string;
  readonly value?: unknown;
}

/** The value of a field of a message; undefined if it is not set. */
export function fieldOf(holder: unknown, { localName, oneof }: DescField): unknown {
  const values = holder as Readonly<Record<string, unknown>> | undefined;
  if (oneof === undefined) return values?.[localName];
  const { case: set, value } = (values?.[oneof.localName] ?? {}) as OneofValue;
  return set === localName ? value : undefined;
}

function replaced(holder: object, [field, ...rest]: readonly DescField[], name: string): object {
  if (field === undefined) return holder;
  const { localName, oneof } = field;
  const inner = rest.length === 0 ? name : fieldOf(holder, field);
  if (inner === undefined) return holder;
  const value = typeof inner === 'string' ? inner : replaced(inner as object, rest, name);
  return {
    ...holder,
    ...(oneof === undefined ? { [localName]: value } : { [oneof.localName]: { case: localName, value } }),
  };
}
