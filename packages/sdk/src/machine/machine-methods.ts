/** Calls methods of machines by short names and with JSON: for tools that know a method only at run time. */
import {
  type DescMethod,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
  toJson,
} from '@bufbuild/protobuf';
import { errorText, invalidArgument } from '@platform/base/portable';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { nameFieldOf, type ResourceDescriptor, resourceTypes } from '@platform/resources';
import type { Machine } from './open-machine.ts';

export interface MachineMethod {
  /** Such as `motor.SetPower`; `robot.…` for the machine itself, `generic_service.…` for the generic service (not the component). */
  readonly name: string;
  /** Such as `core:component:motor`; undefined for methods of the machine itself. */
  readonly api: string | undefined;
  readonly kind: DescMethod['methodKind'];
  /** Names of the fields of a request, with their types. */
  readonly fields: readonly string[];
  readonly method: DescMethod;
  /** Puts the name of a resource into a request; undefined if the request has no field for it. */
  readonly withName: ((request: object, name: string) => object) | undefined;
  /** Whether a request names its resource. @throws invalid_argument if it does not fit the method */
  names(request: JsonObject): boolean;
}

type Type = Pick<ResourceDescriptor, 'api' | 'service' | 'nameFields'>;

const scalarNames: Partial<Record<ScalarType, string>> = {
  [ScalarType.STRING]: 'text',
  [ScalarType.BOOL]: 'true or false',
  [ScalarType.BYTES]: 'base64',
};

/** Every method of every type that this version knows. */
export const machineMethods: readonly MachineMethod[] = [
  ...RobotService.methods.map((method) => described('robot', undefined, method)),
  ...resourceTypes.flatMap((type) => methodsOfType(type, shortName(type))),
];

/** @param of the part of the method names before the dot */
export function methodsOfType(type: Type, of: string): MachineMethod[] {
  return type.service.methods.map((method) => described(of, type, method));
}

function fieldsOf(method: DescMethod): string[] {
  return method.input.fields.map((one) => `${one.name}: ${typeOf(one)}`);
}

function shortName({ api }: Pick<ResourceDescriptor, 'api'>): string {
  const [, kind = '', type = ''] = api.split(':');
  return type === 'generic' && kind === 'service' ? 'generic_service' : type;
}

function described(of: string, type: Type | undefined, method: DescMethod): MachineMethod {
  const field = type && nameFieldOf(type, method.input);
  return {
    name: `${of}.${method.name}`,
    api: type?.api,
    kind: method.methodKind,
    fields: fieldsOf(method),
    method,
    withName: field && ((request, name) => field.withName(request, name)),
    names: (request) => field !== undefined && field.read(message(`${of}.${method.name}`, method, request)) !== '',
  };
}

function typeOf({ fieldKind, ...field }: DescMethod['input']['fields'][number]): string {
  if (fieldKind === 'list') return 'list';
  if (fieldKind === 'map') return 'object';
  if ('message' in field && field.message !== undefined) return field.message.name;
  if ('enum' in field && field.enum !== undefined) return field.enum.values.map(({ name }) => name).join(' | ');
  if (!('scalar' in field)) return fieldKind;
  return scalarNames[field.scalar as ScalarType] ?? 'number';
}

type AnyMethod = (input: unknown, options: CallOptions) => unknown;

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/**
 * Calls a method of a machine. Fields of requests and answers have the names in the .proto file.
 *
 * @param requests one, or several for a method that takes a stream. @param resource name of the resource, for requests that lack it
 * @returns the answers as they arrive; only one if the method does not stream answers
 * @throws invalid_argument if a request does not fit the method
 */
export async function* callMethod(
  machine: Machine,
  { method, name, withName }: MachineMethod,
  requests: readonly JsonObject[],
  { resource, ...options }: CallOptions & { readonly resource?: string | undefined } = {},
): AsyncGenerator<JsonValue, void> {
  const inputs = requests.map((request) => {
    const read = message(name, method, request);
    return resource === undefined || withName === undefined ? read : withName(read, resource);
  });
  const client = machine.client(method.parent) as unknown as Readonly<Record<string, AnyMethod>>;
  const takesStream = method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming';
  const answer = client[method.localName]?.(takesStream ? each(inputs) : inputs[0], {
    ...options,
    ...resourceHeader(method, inputs[0]),
  });
  const shape = { useProtoFieldName: true, alwaysEmitImplicit: true };
  if (method.methodKind === 'unary' || method.methodKind === 'client_streaming')
    yield toJson(method.output, (await answer) as never, shape);
  else for await (const one of answer as AsyncIterable<never>) yield toJson(method.output, one, shape);
}

/** Names the resource for the cloud's audit trail, because the cloud cannot read messages of a module's type; the machine checks it. */
function resourceHeader(
  { parent, input }: DescMethod,
  request: object | undefined,
): { readonly headers?: Readonly<Record<string, string>> } {
  if (request === undefined || parent.typeName.startsWith('platform.')) return {};
  return { headers: { 'platform-resource': encodeURIComponent(nameFieldOf({}, input).read(request as Message)) } };
}

function message(name: string, method: DescMethod, request: JsonObject): Message {
  try {
    return fromJson(method.input, request);
  } catch (caught) {
    const fields = fieldsOf(method).join(', ') || 'none';
    throw invalidArgument(
      `${name}: expected a request with some of the fields ${fields}; found a mistake: ${errorText(caught)}`,
      caught,
    );
  }
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T, void> {
  yield* items;
}
