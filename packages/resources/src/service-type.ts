/**
 * Types whose interface is their service: a resource has the methods of the service, each of which takes the fields of a request and
 * returns those of the answer. The descriptor lists the API, the service and what can be captured; serving and forwarding follow from the
 * service.
 */
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  type JsonObject,
  type MessageInitShape,
  toJson,
} from '@bufbuild/protobuf';
import { unimplemented } from '@platform/base/portable';
import {
  type GetKinematicsRequest,
  GetKinematicsRequestSchema,
  type GetKinematicsResponseSchema,
  KinematicModelSchema,
  KinematicsFileFormat,
} from '@platform/proto/platform/common/v1/common';
import { commandsOver, commonMethods, doCommandCapture, jsonOf, worldPoseCapture } from './common-methods.ts';
import { getReadings, readingsCapture, readingsOver } from './readings.ts';
import {
  type Commandable,
  type Document,
  isCommandable,
  isReadable,
  type Readable,
  type Resource,
} from './resource.ts';
import type { CaptureMethod, ResourceCall, ResourceDescriptor, ResourceMethods } from './resource-descriptor.ts';
import { svaOfModel } from './sva-of-model.ts';

/** Methods that every service has, or that have their own interface (Readable). */
type CommonMethod = 'doCommand' | 'getReadings';

/** Methods that a model without a shape, state or kinematics may omit. */
type OptionalMethod = 'getGeometries' | 'getStatus' | 'getKinematics' | 'get3DModels';

/**
 * The interface of a type. Requests still contain the name of the resource, which a model does not need.
 *
 * @typeParam Extra further methods that a model may omit; callers get UNIMPLEMENTED
 */
export type ServiceResource<S extends DescService, Extra extends keyof S['method'] = never> = Commandable &
  ('getReadings' extends keyof S['method'] ? Readable : Resource) & {
    readonly [K in Exclude<keyof S['method'], CommonMethod | OptionalMethod | Extra>]: OwnMethod<S, K>;
  } & { readonly [K in Extract<keyof S['method'], OptionalMethod | Extra>]?: OwnMethod<S, K> };

type OwnMethod<S extends DescService, K extends keyof S['method']> =
  NonNullable<ResourceMethods<Resource, S>[K]> extends (
    resource: never,
    request: infer I,
    call: ResourceCall,
  ) => infer O
    ? (request: I, call: ResourceCall) => O
    : never;

/** A method of any kind. */
type AnyMethod = (request: unknown, call: ResourceCall) => unknown;

interface ServiceTypeOptions<T extends Resource, S extends DescService>
  extends Pick<ResourceDescriptor<T, S>, 'api' | 'service' | 'nameFields' | 'motion'> {
  /** Methods that a model may omit, besides geometries, status, kinematics and 3D models. */
  readonly optional?: readonly (keyof S['method'] & string)[];
  /** False: the specification captures no commands of this type. */
  readonly capturesCommands?: boolean;
  /** What can be captured, besides `DoCommand` and, if the service has them, `Readings`. */
  readonly captures?: Readonly<Record<string, CaptureMethod<T>>>;
}

const optionalMethods: ReadonlySet<string> = new Set<OptionalMethod>([
  'getGeometries',
  'getStatus',
  'getKinematics',
  'get3DModels',
]);

// Typed for any resource: `implementedBy` is called first.
const readingsOf = { Readings: readingsCapture as unknown as CaptureMethod };

export function serviceType<T extends Commandable, S extends DescService>({
  api,
  service,
  nameFields,
  optional = [],
  capturesCommands = true,
  captures = {},
  motion,
}: ServiceTypeOptions<T, S>): ResourceDescriptor<T, S> {
  const hasReadings = 'getReadings' in service.method;
  const own = service.methods.filter(({ localName }) => localName !== 'doCommand' && localName !== 'getReadings');
  const required = own.filter(({ localName }) => !optionalMethods.has(localName) && !optional.includes(localName));
  const methods = {
    ...Object.fromEntries(own.map((method) => [method.localName, answerOf(service, method)])),
    doCommand: commonMethods.doCommand,
    ...(hasReadings && { getReadings }),
  };
  return {
    api,
    service,
    ...(nameFields && { nameFields }),
    ...(motion && { motion }),
    implementedBy: (resource): resource is T =>
      isCommandable(resource) &&
      (!hasReadings || isReadable(resource)) &&
      required.every(({ localName }) => localName in resource),
    // Each function comes from the method of this name.
    methods: methods as unknown as ResourceMethods<T, S>,
    captures: {
      ...captures,
      ...(hasReadings && readingsOf),
      ...(capturesCommands && { DoCommand: doCommandCapture }),
      ...(api.includes(':component:') && { GetWorldPose: worldPoseCapture }),
    },
    proxy(connection) {
      const client = connection.client(service) as unknown as Readonly<
        Record<string, (request: unknown, options: ResourceCall & { timeoutMs: number }) => unknown>
      >;
      const forwarded = own.map(({ localName }): [string, AnyMethod] => [
        localName,
        // Only the caller ends it: a time limit of the connection could end it too early.
        (request, { signal }) => client[localName]?.(request, { signal, timeoutMs: 0 }),
      ]);
      return {
        ...Object.fromEntries(forwarded),
        ...commandsOver(connection, service),
        ...(hasReadings && readingsOver(connection, service as unknown as Parameters<typeof readingsOver>[1])),
      } as unknown as Omit<T, 'close'>;
    },
  };
}

const defaults = { getGeometries: commonMethods.getGeometries, getStatus: commonMethods.getStatus };

/** Calls the resource's method of the same name. */
function answerOf(service: DescService, { localName, name, methodKind }: DescMethod) {
  const shared = localName in defaults ? defaults[localName as keyof typeof defaults] : undefined;
  return (resource: Resource, request: unknown, call: ResourceCall): unknown => {
    const method = (resource as unknown as Readonly<Record<string, AnyMethod | undefined>>)[localName];
    if (method !== undefined) return method.call(resource, request, call);
    if (shared !== undefined) return shared();
    const refused = unimplemented(`${service.typeName}: this model does not have ${name}`);
    if (methodKind === 'unary' || methodKind === 'client_streaming') return Promise.reject(refused);
    throw refused;
  };
}

/**
 * The kinematics of a resource in the SVA format: its file, or else its messages converted. Undefined if it has neither.
 *
 * @throws unimplemented if its model has none
 */
export async function svaOf(
  resource: {
    getKinematics?(
      request: GetKinematicsRequest,
      call: ResourceCall,
    ): Promise<MessageInitShape<typeof GetKinematicsResponseSchema>>;
  },
  call: ResourceCall,
): Promise<Uint8Array | undefined> {
  const answer = await resource.getKinematics?.(create(GetKinematicsRequestSchema), call);
  if (answer?.format === KinematicsFileFormat.SVA) return answer.kinematicsData;
  const converted = answer?.model && svaOfModel(create(KinematicModelSchema, answer.model));
  return converted && new TextEncoder().encode(JSON.stringify(converted));
}

/**
 * Captures the answer of a method as the document that public clients expect: every field, named as in the .proto file, with enums as
 * numbers.
 *
 * @param fields the fields of the request, from `additional_params`; other parameters become `extra`
 */
export function answerCapture<T extends Resource, I extends DescMessage, O extends DescMessage>(
  { localName, input, output }: DescMethodUnary<I, O>,
  fields: (params: Document) => MessageInitShape<I> = (params) =>
    ({ extra: jsonOf(params) }) as unknown as MessageInitShape<I>,
): CaptureMethod<T> {
  return {
    kind: 'tabular',
    async read(resource, params, { signal }) {
      const method = (resource as unknown as Readonly<Record<string, AnyMethod>>)[localName];
      const request = create(input, fields({ ...params, fromDataManagement: true }));
      const answer = (await method?.call(resource, request, { signal })) as MessageInitShape<O>;
      return toJson(output, create(output, answer), answerShape) as JsonObject;
    },
  };
}

const answerShape = { useProtoFieldName: true, alwaysEmitImplicit: true, enumAsInteger: true };
