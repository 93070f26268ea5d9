/** What every resource is, whatever its type; a type's own interface extends these. */

/** A configured resource, running. */
export interface Resource {
  close(): Promise<void>;
}

/** Named values, as JSON knows them. */
export type Document = Readonly<Record<string, unknown>>;

/** What takes commands that only its model knows: every component, and most services. */
export interface Commandable extends Resource {
  doCommand(command: Document): Promise<Document>;
}

/** What gives named readings: sensors of any kind. */
export interface Readable extends Resource {
  /** Synchronous where it can be: most readings of a busy machine pass here. */
  readings(extra: Document): Document | Promise<Document>;
}

export function isCommandable(resource: Resource): resource is Commandable {
  return 'doCommand' in resource;
}

export function isReadable(resource: Resource): resource is Readable {
  return 'readings' in resource;
}
