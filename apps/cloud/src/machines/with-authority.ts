/** Adds the installation's own authority to the `cloud` block of a part's configuration file (D31, D32). */
export function withAuthority(document: unknown, pem: string): unknown {
  if (typeof document !== 'object' || document === null || !('cloud' in document)) return document;
  const { cloud } = document;
  return typeof cloud === 'object' && cloud !== null ? { ...document, cloud: { ...cloud, ca: pem } } : document;
}
