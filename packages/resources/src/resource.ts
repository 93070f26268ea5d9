/** What every resource has, whatever its type; a type's own interface extends these. */

import type { EncodedDocument } from './encoded-document.ts';

/** A configured resource, running. */
export interface Resource {
  close(): Promise<void>;
}

/** Named values, as in JSON. */
export type Document = Readonly<Record<string, unknown>>;

/** A resource that takes commands only its model knows: every component, and most services. */
export interface Commandable extends Resource {
  doCommand(command: Document): Promise<Document>;
  /** Of a resource in another process: `doCommand` for capture, whose result may have any number of elements; a long one stays encoded. */
  captureCommand?(command: Document): Promise<Document | EncodedDocument>;
}

/** A resource that returns named readings: sensors of any kind. */
export interface Readable extends Resource {
  /** Synchronous where possible: most readings of a busy machine come through here. */
  readings(extra: Document): Document | Promise<Document>;
  /** Of a resource in another process: the readings as an encoded GetReadingsResponse, which may have any number of elements. */
  encodedReadings?(extra: Document): Promise<Uint8Array>;
}

export function isCommandable(resource: Resource): resource is Commandable {
  return 'doCommand' in resource;
}

export function isReadable(resource: Resource): resource is Readable {
  return 'readings' in resource;
}
