import a11y from "eslint-plugin-vuejs-accessibility";
import vue from "eslint-plugin-vue";
import ts from "typescript-eslint";

export default ts.config(
  { ignores: ["src/api/schema.d.ts", "node_modules", "public"] },
  ...ts.configs.strict,
  ...vue.configs["flat/recommended"],
  ...a11y.configs["flat/recommended"],
  {
    languageOptions: { parserOptions: { parser: ts.parser } },
    rules: {
      "vue/no-v-html": "error",
      // Layout of templates is left to the writer.
      "vue/max-attributes-per-line": "off",
      "vue/singleline-html-element-content-newline": "off",
      "vue/multiline-html-element-content-newline": "off",
      "vue/html-self-closing": "off",
      "vue/html-indent": "off",
      "vue/html-closing-bracket-newline": "off",
      "vue/first-attribute-linebreak": "off",
      "vue/attributes-order": "off",
      // Pages are named by their folder; single words are clear enough there.
      "vue/multi-word-component-names": "off",
      "vue/require-default-prop": "off",
      // A label that names its control by `for` is enough.
      "vuejs-accessibility/label-has-for": ["error", { required: { some: ["nesting", "id"] }, allowChildren: true }],
      // Focus is moved only into dialogs that were just opened by the reader.
      "vuejs-accessibility/no-autofocus": "off",
    },
  },
);
