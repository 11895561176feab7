/** Where the app lives. The server writes its base path into <base href>, so that one build works under any. */
export function basePath(): string {
  return new URL(document.baseURI).pathname.replace(/\/*$/, "/");
}

export function underBase(path: string): string {
  return basePath() + path.replace(/^\/+/, "");
}
