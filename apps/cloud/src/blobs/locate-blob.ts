/** Where a payload lies on disk. */
import { join } from 'node:path';
import { PlatformError } from '@platform/base';

/** The last line of defence: callers sanitise, and a path that could leave the directory is refused all the same. */
export function locateBlob(directory: string, path: string): string {
  const segments = path.split('/');
  if (segments.some((segment) => segment === '' || segment.startsWith('.') || /[\0\\]/.test(segment))) {
    throw new PlatformError('internal', `expected a blob path of plain segments, found ${JSON.stringify(path)}`);
  }
  return join(directory, ...segments);
}
