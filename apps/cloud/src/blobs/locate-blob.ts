/** The location of a payload on disk. */
import { join } from 'node:path';
import { PlatformError } from '@platform/base';

/** A last line of defence: callers sanitise paths, but a path that could leave the directory is refused anyway. */
export function locateBlob(directory: string, path: string): string {
  const segments = path.split('/');
  if (segments.some((segment) => segment === '' || segment.startsWith('.') || /[\0\\]/.test(segment))) {
    throw new PlatformError('internal', `expected a blob path of plain segments, found ${JSON.stringify(path)}`);
  }
  return join(directory, ...segments);
}
