/** Validates public namespaces: the part before the colon in names of models and shared items. */
import { invalidArgument } from '@platform/base';

/** Namespaces of the platform itself, as the platform and public clients spell them. */
const reserved: ReadonlySet<string> = new Set(['core', 'core-internal', 'platform', 'rdk', 'rdk-internal', 'viam']);

/** @throws invalid_argument naming the found value */
export function checkedNamespace(namespace: string): string {
  if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(namespace))
    throw invalidArgument(
      `public_namespace: expected 1 to 63 lower-case letters, digits and dashes, a dash neither first nor last, found ${JSON.stringify(namespace.slice(0, 80))} (${namespace.length} characters)`,
    );
  if (reserved.has(namespace))
    throw invalidArgument(`public_namespace: "${namespace}" is reserved for the platform; choose another one`);
  return namespace;
}
