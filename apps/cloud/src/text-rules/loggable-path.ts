const longest = 200;

/** The path of a request as logs may have it: the token of `/connect/<token>` is a secret. @param path without a query */
export function loggablePath(path: string): string {
  return path.replace(/^(\/+connect\/).*/s, '$1…').slice(0, longest);
}
