/** The settings for services that a remote has for its resources, such as what is captured of them. Pure. */
import { canonicalApi } from '@platform/base';
import type { JsonObject, ServiceConfig } from '@platform/machine-config/schema';

/**
 * Those of one resource, as it would have them in `components`.
 *
 * @param names full names by which an entry of `capture_methods` may name it
 */
export function serviceConfigsOf(configs: readonly ServiceConfig[], names: ReadonlySet<string>): ServiceConfig[] {
  return configs.flatMap(({ type, attributes }) => {
    const { capture_methods: all } = attributes;
    const capture_methods = (Array.isArray(all) ? (all as readonly JsonObject[]) : []).flatMap((method) => {
      const { name, ...rest } = method ?? {};
      return typeof name === 'string' && names.has(canonicalApi(name)) ? [rest] : [];
    });
    return capture_methods.length === 0 ? [] : [{ type, attributes: { ...attributes, capture_methods } }];
  });
}
