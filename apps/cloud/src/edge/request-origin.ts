/** The address by which a caller reached this cloud, for addresses in answers; undefined when the call does not say a plain one. */
export function requestOrigin(metadata: Headers, scheme: 'http' | 'https'): string | undefined {
  const host = metadata.get('host') ?? '';
  return /^[A-Za-z0-9._-]{1,253}(?::\d{1,5})?$|^\[[0-9A-Fa-f:.]{2,45}\](?::\d{1,5})?$/.test(host)
    ? `${scheme}://${host}`
    : undefined;
}
