/** The line that connects another computer as a machine; `platform machines connect` prints the same. */
export function connectLine(given: {
  readonly cloudUrl: string;
  readonly token: string;
  readonly certificatePin: string;
}): string {
  const { cloudUrl, token, certificatePin: pin } = given;
  // Arguments of programs are visible to every account of a computer, so curl reads the address from its input; `printf` is no program.
  const url = `printf 'url="${new URL(cloudUrl).origin}/connect/${token}"\\n'`;
  return pin === ''
    ? `${url} | curl -fsS -K - | sh`
    : `${url} | curl -fsSk --pinnedpubkey '${pin}' -K - | PLATFORM_PIN='${pin}' sh`;
}

/** Whether the address leads to this computer, whichever computer uses it. */
export function isOnLoopback(cloudUrl: string): boolean {
  const { hostname } = new URL(cloudUrl);
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** The remedy in the words of the dialog; undefined: other computers reach the address. */
export function loopbackAdvice(cloudUrl: string): string | undefined {
  if (!isOnLoopback(cloudUrl)) return undefined;
  return `This cloud listens at ${new URL(cloudUrl).origin}, which machines elsewhere cannot reach: the line works on this computer only. To connect others, stop the cloud and start it with --host 0.0.0.0. Its address then changes and begins with https://: sign in there again, and run a new line on machines that were connected at the old address.`;
}
