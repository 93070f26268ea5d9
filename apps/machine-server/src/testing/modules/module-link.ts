/** For tests: the link to a module in this process, which does what a test tells it. */
import type { DescService } from '@bufbuild/protobuf';
import { type CodeName, PlatformError } from '@platform/base';
import type { ComponentConfig } from '@platform/proto/platform/app/v1/robot';
import type { Client, Link } from '@platform/rpc/client';

interface Change {
  readonly config: ComponentConfig;
  readonly dependencies: readonly string[];
}

interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface ModuleLink {
  readonly link: Pick<Link, 'client'>;
  /** What the module has: the attributes of each resource, by full name. */
  readonly held: Map<string, ComponentConfig['attributes']>;
  /** `add c`, `reconfigure c`, `remove c`, … as they arrive. */
  readonly calls: string[];
}

/** As the public SDKs for Python and Go, and ours, answer calls to a resource that a module does not have. */
export const forgottenAnswers: Readonly<Record<string, (full: string) => readonly [CodeName, string]>> = {
  Python: (full) => ['not_found', `No Sensor with name "${full.split('/')[1]}" found in the registry`],
  Go: (full) => ['unknown', `resource ${full.replace('core', 'rdk')} not found`],
  TypeScript: (full) => ['not_found', `this module has no resource ${full}`],
};

/**
 * A module that, as the public ones do, forgets a resource whose new version cannot be built.
 *
 * @param before runs before each call; what it throws is the answer. Its name is one of `calls`, or `read c`
 * @param forgotten how it answers calls to a resource that it does not have
 */
export function createModuleLink(
  before: (call: string, change?: Change) => void | Promise<void> = () => {},
  forgotten: (full: string) => readonly [CodeName, string] = (full) => ['not_found', full],
): ModuleLink {
  const held = new Map<string, ComponentConfig['attributes']>();
  const calls: string[] = [];
  const nameOf = ({ api, name }: ComponentConfig): string => `${api}/${name}`;
  const arrive = async (kind: string, full: string, { signal }: CallOptions, change?: Change): Promise<void> => {
    const call = `${kind} ${full.split('/')[1]}`;
    calls.push(call);
    const canceled = new Promise<'canceled'>((resolve) => signal?.addEventListener('abort', () => resolve('canceled')));
    if ((await Promise.race([before(call, change), canceled])) === 'canceled')
      throw new PlatformError('canceled', 'the call was canceled');
  };
  const find = (full: string): void => {
    if (!held.has(full)) throw new PlatformError('not_found', `no resource ${full}`);
  };
  const methods = {
    validateConfig: async () => ({ dependencies: [], optionalDependencies: [] }),
    async addResource(change: Change, options: CallOptions) {
      const full = nameOf(change.config);
      await arrive('add', full, options, change);
      if (held.has(full)) throw new PlatformError('unknown', `cannot add resource with duplicate name ${full}`);
      held.set(full, change.config.attributes);
    },
    async reconfigureResource(change: Change, options: CallOptions) {
      const full = nameOf(change.config);
      find(full);
      held.delete(full);
      await arrive('reconfigure', full, options, change);
      held.set(full, change.config.attributes);
    },
    async removeResource({ name }: { readonly name: string }, options: CallOptions) {
      await arrive('remove', name, options);
      find(name);
      held.delete(name);
    },
    async getReadings({ name }: { readonly name: string }) {
      const full = `core:component:sensor/${name}`;
      await before(`read ${name}`);
      if (!held.has(full)) throw new PlatformError(...forgotten(full));
      return { readings: {} };
    },
  };
  return { link: { client: <S extends DescService>(_service: S) => methods as unknown as Client<S> }, held, calls };
}
