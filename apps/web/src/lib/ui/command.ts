/** How the host of this cloud starts its command line, such as `node tools/run.js`: the cloud writes it into the page. */
export function commandLine(): string {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="platform-command"]');
  return meta?.content || 'platform';
}
