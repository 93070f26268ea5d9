/**
 * Everything that describes a resource type. The machine-server serves, limits, captures and forwards resources by their descriptors and
 * names no type itself. To add a type, write an interface, its descriptor in `resourceTypes`, and its models.
 */
import type { DescMethod, DescService, MessageInitShape } from '@bufbuild/protobuf';
import type { AnnotationsSchema } from '@platform/proto/platform/app/data/v1/data';
import type { PoseSchema } from '@platform/proto/platform/common/v1/common';
import type { Link } from '@platform/rpc/client';
import type { RequestOf, ResponseOf } from '@platform/rpc/server';
import type { EncodedDocument } from './encoded-document.ts';
import type { Document, Resource } from './resource.ts';

export interface ResourceDescriptor<T extends Resource = Resource, S extends DescService = DescService> {
  /** For example `core:component:sensor`. */
  readonly api: string;
  /** The protobuf service for resources of this type. */
  readonly service: S;
  /**
   * Where requests name the resource if not in their field `name`: for example `board_name`, or `init.name` for a stream whose first
   * message names it. The first of these paths that exists in the request type is used; if none does, `name`.
   */
  readonly nameFields?: readonly string[];
  /** Whether a resource has the interface of this type. */
  implementedBy(resource: Resource): resource is T;
  /** The functions that answer the methods of the service, by their names in the generated code; an absent one answers UNIMPLEMENTED. */
  readonly methods: ResourceMethods<T, S>;
  /** What can be captured, by the names under which the specification stores it. */
  readonly captures: Readonly<Record<string, CaptureMethod<T>>>;
  /** How the end of such a resource moves in its frame; absent: nothing moves. */
  readonly motion?: FrameMotion<T>;
  /** The interface of the type for a resource in another process; the connection fills in its name (see `createProxy`). */
  proxy(connection: Connection): Omit<T, 'close'>;
}

/** Calls a resource in another process. */
export type Connection = Pick<Link, 'client'>;

export type ResourceMethods<T extends Resource, S extends DescService> = {
  readonly [K in keyof S['method']]?: MethodOf<T, S['method'][K]>;
};

/** The function for one call to one resource. */
type MethodOf<T extends Resource, M extends DescMethod> =
  // A service known only at run time.
  DescMethod extends M ? ResourceMethod<T, unknown, unknown> : ResourceMethod<T, RequestOf<M>, ResponseOf<M>>;

type ResourceMethod<T extends Resource, I, O> = {
  // Declared as a method, so that the descriptor of one type is assignable to that of any type: `implementedBy` is called first.
  answer(resource: T, request: I, call: ResourceCall): O;
}['answer'];

export interface ResourceCall {
  /** Aborts when the caller disconnects, the deadline passes, or the server stops. */
  readonly signal: AbortSignal;
  /** The caller, if the call came over the network. */
  readonly principal?: { readonly entity: string } | undefined;
}

export type CaptureMethod<T extends Resource = Resource> = TabularCapture<T> | BinaryCapture<T>;

/** What is stored of one reading. */
export type CapturedDocument = Document | EncodedDocument;

export interface TabularCapture<T extends Resource = Resource> {
  readonly kind: 'tabular';
  /** Returns the document to store. @param params `additional_params` of the capture method. */
  read(resource: T, params: Document, context: CaptureContext): CapturedDocument | Promise<CapturedDocument>;
}

export interface BinaryCapture<T extends Resource = Resource> {
  readonly kind: 'binary';
  /** Returns what to store, each as a separate object. They form a group: all get the times of this reading. */
  read(resource: T, params: Document, context: CaptureContext): Promise<readonly BinaryReading[]>;
  /** How much longer than usual a reading may take, in ms. */
  extraMs?(params: Document, intervalMs: number): number;
}

export interface BinaryReading {
  readonly bytes: Uint8Array;
  /** For example `image/jpeg`; the file gets the matching extension. */
  readonly mimeType: string;
  readonly annotations?: MessageInitShape<typeof AnnotationsSchema>;
}

/** What a capture method gets besides the resource. */
export interface CaptureContext {
  /** The pose of the resource in `world`: `{x, y, z}` in mm, `{o_x, o_y, o_z}` the direction of its z axis, `theta` in degrees. */
  worldPose(): Promise<Document>;
  /** Time between two readings. */
  readonly intervalMs: number;
  /** Aborts when nothing waits for the reading any longer. */
  readonly signal: AbortSignal;
  /** State that the method keeps from one reading of this collector to the next; empty at first. */
  readonly memory: Map<string, unknown>;
}

/** How the frame system learns where the end of a resource is. */
export interface FrameMotion<T extends Resource = Resource> {
  /** Kinematics as JSON in the format SVA; undefined in other formats. @throws unimplemented if the model has none */
  kinematics(resource: T, call: ResourceCall): Promise<Uint8Array | undefined>;
  /** The positions of the joints of its kinematics: degrees or mm. */
  joints(resource: T, call: ResourceCall): Promise<readonly number[]>;
  /** The pose of its end in its own frame, for a model without kinematics; absent: unknown. */
  end?(resource: T, call: ResourceCall): Promise<MessageInitShape<typeof PoseSchema> | undefined>;
}

/** For example `sensor` for `core:component:sensor`. */
export function shortType({ api }: Pick<ResourceDescriptor, 'api'>): string {
  return api.slice(api.lastIndexOf(':') + 1);
}
