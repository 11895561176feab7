/** Languages by name. A code nobody knows is shown as it is: it is what the file was given. */
const names = new Intl.DisplayNames(["en"], { type: "language" });

export function languageName(code: string | null | undefined): string {
  if (!code) return "–";
  try {
    return names.of(code) ?? code;
  } catch {
    return code;
  }
}
