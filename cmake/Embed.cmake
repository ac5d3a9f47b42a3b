# Writes the text of INPUT as `extern const std::string_view tilewright::embedded::VARIABLE` to OUTPUT.
# Raw string literals are limited in length, so the text is cut into pieces at line ends.
file(READ ${INPUT} text)
set(body "")
string(LENGTH "${text}" length)
set(position 0)
while(position LESS length)
  string(SUBSTRING "${text}" ${position} 12000 piece)
  string(APPEND body "R\"tw~(${piece})tw~\"\n")
  math(EXPR position "${position} + 12000")
endwhile()
file(WRITE ${OUTPUT} "#include <string_view>
namespace tilewright::embedded {
extern const std::string_view ${VARIABLE};
const std::string_view ${VARIABLE} =
${body};
}  // namespace tilewright::embedded
")
