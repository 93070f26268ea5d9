/** The packages of a configuration. */
import type { JsonObject } from '@platform/machine-config/schema';

export interface PackageConfig {
  /** Unique on this machine, and used in placeholders. */
  readonly name: string;
  /** `<organization>/<name>`. */
  readonly id: string;
  readonly version: string;
  /** For example `module` or `ml_model`. */
  readonly type: string;
  /** Why the cloud cannot serve it; empty if it can. */
  readonly error: string;
}

export function readPackages(entries: readonly JsonObject[]): readonly PackageConfig[] {
  return entries.map((entry) => {
    const text = (key: string): string => (typeof entry[key] === 'string' ? entry[key] : '');
    const error = String((entry['status'] as JsonObject | undefined)?.['error'] ?? '');
    return {
      name: text('name'),
      id: text('package'),
      version: text('version'),
      type: text('type') || 'archive',
      error,
    };
  });
}

/** The folder of a version, below that of all packages. No part of its path can leave that folder. */
export function folderOf({ id, version, type }: Pick<PackageConfig, 'id' | 'version' | 'type'>): string {
  const safe = (text: string): string => encodeURIComponent(text).replace(/^\.+/, (dots) => '%2E'.repeat(dots.length));
  return `${safe(type)}/${safe(`${id}-${version}`)}`;
}

/** A version as the cloud serves it, without the platform that ends it: `1.2.0-linux-amd64` is `1.2.0`. */
export function releaseOf(version: string): string {
  return version.replace(/-(?:linux|darwin|windows|android|any)(?:-\w+)?$/, '');
}
