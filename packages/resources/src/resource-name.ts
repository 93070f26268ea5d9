/** Full names of resources: `core:component:sensor/temp`. */

export interface ResourceName {
  /** `core:component:sensor`. */
  readonly api: string;
  /** Short name; `<remote>:<name>` for a resource of a remote. */
  readonly name: string;
}

/** The parts of a full name; undefined when it is not `<namespace>:<component|service>:<type>/<name>`. */
export function parseResourceName(text: string): ResourceName | undefined {
  const slash = text.indexOf('/');
  const api = text.slice(0, slash);
  const name = text.slice(slash + 1);
  return slash > 0 && name !== '' && /^[^:/]+:[^:/]+:[^:/]+$/.test(api) ? { api, name } : undefined;
}

export function formatResourceName(name: ResourceName): string {
  return `${name.api}/${name.name}`;
}
