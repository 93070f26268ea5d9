/** Explains a failed system call on a device, with what to do. */
import { readFile, stat } from 'node:fs/promises';
import { errorText, notFound, PlatformError, permissionDenied, unavailable } from '@platform/base';

/**
 * @param path of the device. @param hints what to do about an error, by its code such as `ENOENT`; those of permissions and missing devices
 *   have one already
 */
export async function deviceError(
  path: string,
  caught: unknown,
  hints: Readonly<Record<string, string>> = {},
): Promise<PlatformError> {
  if (caught instanceof PlatformError) return caught;
  const code = codeOf(caught);
  const hint = hints[code];
  const text = (what: string, advice: string): string => `${path}: ${what}; ${hint ?? advice}`;
  switch (code) {
    case 'ENOENT':
    case 'ENODEV':
    case 'ENXIO':
      return notFound(text('it does not exist', 'connect it, load its driver, or correct the path'));
    case 'EACCES':
    case 'EPERM':
      return permissionDenied(await permissionText(path));
    case 'EBUSY':
      return unavailable(text('it is in use', 'end the program, or remove the resource, that uses it'));
    default: {
      const what = code === '' ? errorText(caught) : `the system refused it (${code})`;
      return unavailable(hint === undefined ? `${path}: ${what}` : text(what, ''), caught);
    }
  }
}

/** The code of a system error; empty for other errors. */
export function codeOf(caught: unknown): string {
  return caught instanceof Error && 'code' in caught ? String(caught.code) : '';
}

async function permissionText(path: string): Promise<string> {
  const group = await groupOf(path);
  const advice = 'let the user of the machine-server open it, and start the machine-server again';
  if (group === undefined) return `${path}: permission denied; ${advice}`;
  return `${path}: permission denied; add the user of the machine-server to the group ${group} (usermod -aG ${group} USER), and start the machine-server again`;
}

/** The group that may open the device; undefined if only root may, or it is unknown. */
async function groupOf(path: string): Promise<string | undefined> {
  try {
    const { gid, mode } = await stat(path);
    const mayOpen = (mode & 0o060) === 0o060;
    if (gid === 0 || !mayOpen) return undefined;
    const line = (await readFile('/etc/group', 'utf8')).split('\n').find((each) => each.split(':')[2] === String(gid));
    return line?.split(':')[0] ?? String(gid);
  } catch {
    return undefined;
  }
}
