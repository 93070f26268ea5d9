/**
 * What there is to say about a resource type. The machine-server serves, limits and captures resources from their descriptor
 * and names no type: a new type is an interface, its descriptor in `resourceTypes`, and its models.
 */
import type {
  DescMessage,
  DescMethod,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import type { Document, Resource } from './resource.ts';

export interface ResourceDescriptor<T extends Resource = Resource, S extends DescService = DescService> {
  /** `core:component:sensor`. */
  readonly api: string;
  /** The service that speaks for resources of this type; requests name the resource in their field `name`. */
  readonly service: S;
  /** Whether a resource has the interface of this type. */
  implementedBy(resource: Resource): resource is T;
  /** What answers the methods of the service, by their names in the generated code; one that is absent answers UNIMPLEMENTED. */
  readonly methods: ResourceMethods<T, S>;
  /**
   * What can be captured, by the names under which the specification stores it. A method that is in the table of the
   * specification and not here is one that this version does not capture.
   */
  readonly captures: Readonly<Record<string, CaptureMethod<T>>>;
}

export type ResourceMethods<T extends Resource, S extends DescService> = {
  readonly [K in keyof S['method']]?: MethodOf<T, S['method'][K]>;
};

type MethodOf<T extends Resource, M extends DescMethod> =
  M extends DescMethodUnary<infer I, infer O>
    ? ResourceMethod<T, I, O>
    : // Of a service that is not known here.
      DescMethodUnary extends M
      ? ResourceMethod<T, DescMessage, DescMessage>
      : never;

/** Of one resource, for one request. */
export type ResourceMethod<T extends Resource, I extends DescMessage, O extends DescMessage> = {
  // A method, so that the descriptor of a type passes for one of any type: `implementedBy` is asked first.
  answer(resource: T, request: MessageShape<I>): Promise<MessageInitShape<O>>;
}['answer'];

export interface CaptureMethod<T extends Resource = Resource> {
  readonly kind: 'tabular';
  /** The document that is stored. @param params `additional_params` of the capture method. */
  read(resource: T, params: Document): Document | Promise<Document>;
}

/** `sensor` of `core:component:sensor`. */
export function shortType({ api }: Pick<ResourceDescriptor, 'api'>): string {
  return api.slice(api.lastIndexOf(':') + 1);
}
