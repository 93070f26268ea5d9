/**
 * The version of a machine-server as public clients see it. They take every semantic version for one of the public machine-server, and
 * refuse functions to old ones (`module reload-local` to those below 0.90): ours are marked as builds of another origin, which they accept.
 */
export function publicVersion(version: string): string {
  return /^0\.[1-8]?\d\./.test(version) ? `platform-${version}` : version;
}
