/** The address at which the caller reached this cloud, for addresses in answers; undefined if the Host header is missing or unusual. */
export function requestOrigin(metadata: Headers, scheme: 'http' | 'https'): string | undefined {
  const host = metadata.get('host') ?? '';
  return /^[A-Za-z0-9._-]{1,253}(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?$/.test(host)
    ? `${scheme}://${host}`
    : undefined;
}
