/**
 * What there is to say about a resource type. The machine-server serves, limits, captures and forwards resources from their
 * descriptors and names no type: a new type is an interface, its descriptor in `resourceTypes`, and its models.
 */
import type {
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import type { Link } from '@platform/rpc/client';
import type { Document, Resource } from './resource.ts';

export interface ResourceDescriptor<T extends Resource = Resource, S extends DescService = DescService> {
  /** `core:component:sensor`. */
  readonly api: string;
  /** The service that speaks for resources of this type. */
  readonly service: S;
  /**
   * Where requests name the resource if not in their field `name`: `board_name`, or `init.name` of a stream whose first message
   * names it. The first of these paths that a request type has is the one; absent or none: `name`.
   */
  readonly nameFields?: readonly string[];
  /** Whether a resource has the interface of this type. */
  implementedBy(resource: Resource): resource is T;
  /** What answers the methods of the service, by their names in the generated code; one that is absent answers UNIMPLEMENTED. */
  readonly methods: ResourceMethods<T, S>;
  /** What can be captured, by the names under which the specification stores it. */
  readonly captures: Readonly<Record<string, CaptureMethod<T>>>;
  /** The interface of the type for a resource of another process, whose name the connection fills in (see `createProxy`). */
  proxy(connection: Connection): Omit<T, 'close'>;
}

/** What calls a resource of another process. */
export type Connection = Pick<Link, 'client'>;

export type ResourceMethods<T extends Resource, S extends DescService> = {
  readonly [K in keyof S['method']]?: MethodOf<T, S['method'][K]>;
};

/** Of one resource, for one call. Several messages in or out are an async iterable. */
type MethodOf<T extends Resource, M extends DescMethod> =
  // Of a service that is known at run time only.
  DescMethod extends M
    ? ResourceMethod<T, unknown, unknown>
    : M extends DescMethodUnary<infer I, infer O>
      ? ResourceMethod<T, MessageShape<I>, Promise<MessageInitShape<O>>>
      : M extends DescMethodServerStreaming<infer I, infer O>
        ? ResourceMethod<T, MessageShape<I>, AsyncIterable<MessageInitShape<O>>>
        : M extends DescMethodClientStreaming<infer I, infer O>
          ? ResourceMethod<T, AsyncIterable<MessageShape<I>>, Promise<MessageInitShape<O>>>
          : M extends DescMethodBiDiStreaming<infer I, infer O>
            ? ResourceMethod<T, AsyncIterable<MessageShape<I>>, AsyncIterable<MessageInitShape<O>>>
            : never;

type ResourceMethod<T extends Resource, I, O> = {
  // A method, so that the descriptor of a type passes for one of any type: `implementedBy` is asked first.
  answer(resource: T, request: I, call: ResourceCall): O;
}['answer'];

export interface ResourceCall {
  /** Aborts when the caller is gone, the deadline has passed, or the server stops. */
  readonly signal: AbortSignal;
}

export interface CaptureMethod<T extends Resource = Resource> {
  readonly kind: 'tabular';
  /** The document that is stored. @param params `additional_params` of the capture method. */
  read(resource: T, params: Document): Document | Promise<Document>;
}

/** `sensor` of `core:component:sensor`. */
export function shortType({ api }: Pick<ResourceDescriptor, 'api'>): string {
  return api.slice(api.lastIndexOf(':') + 1);
}
